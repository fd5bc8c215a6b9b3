// Calls a pure virtual function: during construction, through a pointer that the compiler cannot see through.
class base {
 public:
  base() { call(this); }
  virtual void work() = 0;

 protected:
  ~base() = default;

 private:
  [[gnu::noinline]] static void call(base* object) {
    asm volatile("" : "+r"(object));
    object->work();
    asm volatile("");  // a call, not a jump
  }
};

class derived : public base {
 public:
  void work() override {}
};

int main() {
  const derived object;
  return 1;
}
