// What rv64_bench runs: three loops like those of the CPU path, `rounds` times, then sleep.
typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long u64;

static float activations[256];
static signed char weights[256];
static u32 table[1024];
volatile float product;
volatile u64 sum;

__attribute__((noinline)) static float dot(const float* x, const signed char* y, int n) {
  float s = 0;
  for (int i = 0; i < n; i++) s += x[i] * (float)y[i];
  return s;
}

__attribute__((noinline)) static u64 hash(const u8* p, int n) {
  u64 h = 0xcbf29ce484222325u;
  for (int i = 0; i < n; i++) h = (h ^ p[i]) * 0x100000001b3u;
  return h;
}

__attribute__((noinline)) static u32 sort_pass(u32* t, int n) {
  u32 s = 0;
  for (int i = 1; i < n; i++) {
    if (t[i] < t[i - 1]) {
      const u32 x = t[i];
      t[i] = t[i - 1];
      t[i - 1] = x;
    }
    s += t[i] ^ (s >> 3);
  }
  return s;
}

void run(u64 rounds) {
  for (int k = 0; k < 256; k++) {
    activations[k] = (float)k * 0.5f;
    weights[k] = (signed char)k;
  }
  u32 r = 1;
  for (int i = 0; i < 1024; i++) {
    r = r * 1664525 + 1013904223;
    table[i] = r >> 8;
  }
  for (u64 i = 0; i < rounds; i++) {
    product = dot(activations, weights, 256);
    sum = hash((const u8*)activations, 1024);
    sum += sort_pass(table, 1024);
  }
}
