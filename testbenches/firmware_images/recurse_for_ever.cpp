// Uses up the stack: a store access fault in the guard page, reported as a stack overflow.
namespace {

volatile bool deeper = true;  // the compiler may not know that this never ends

[[gnu::noinline]] unsigned recurse(unsigned depth) {
  volatile unsigned local[8] = {depth};
  return deeper ? recurse(local[0] + 1) + local[depth % 8] : depth;
}

}  // namespace

int main() {
  return static_cast<int>(recurse(0));
}
