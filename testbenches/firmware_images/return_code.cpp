// Ends with exit code 3, which the finisher gets from what main() returns.
int main() {
  return 3;
}
