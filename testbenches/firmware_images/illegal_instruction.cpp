// Executes the instruction that is defined to be illegal.
int main() {
  asm volatile("unimp");
  return 1;
}
