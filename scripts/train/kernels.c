/* Fused element-wise passes of the training step. PyTorch would make one trip through memory per operation; these make one per layer part.
 *
 * BF16 values are the upper halves of FP32 bit patterns; stores round to nearest even. Loops are plain so that the compiler vectorises them.
 * Shapes as in model.py: B samples, L positions, H heads, K key/value heads, E head width.
 */
#include <math.h>
#include <stdint.h>
#include <string.h>

typedef uint16_t bf16;

static inline float widen(bf16 v) {
  uint32_t bits = (uint32_t)v << 16;
  float out;
  memcpy(&out, &bits, 4);
  return out;
}

static inline bf16 narrow(float v) {
  uint32_t bits;
  memcpy(&bits, &v, 4);
  return (bf16)((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

/* e^x for x <= 88 with a relative error below 1e-6; below -87 it is 0 for all purposes here. libm's is not vectorised. */
static inline float exp_fast(float x) {
  float t = (x > -87.0f ? x : -87.0f) * 1.44269504f;
  float whole = floorf(t + 0.5f), r = (t - whole) * 0.693147182f;
  float p = 1.0f + r * (1.0f + r * (0.5f + r * (1.66666672e-1f + r * (4.16666679e-2f + r * (8.33333377e-3f + r * 1.38888892e-3f)))));
  int32_t bits = ((int32_t)whole + 127) << 23;
  float power;
  memcpy(&power, &bits, 4);
  return p * power;
}

/* y = x * scale * gain with scale = 1 / sqrt(mean(x^2) + eps); scale [rows] is kept for the gradient. */
void rms_norm(const float *x, const float *gain, float eps, bf16 *y, float *scale, long rows, long width) {
  for (long n = 0; n < rows; ++n, x += width, y += width) {
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (long i = 0; i < width; ++i) sum += x[i] * x[i];
    float s = scale[n] = 1 / sqrtf(sum / width + eps);
#pragma omp simd
    for (long i = 0; i < width; ++i) y[i] = narrow(x[i] * s * gain[i]);
  }
}

/* gain_grad [width] must come in zeroed. */
void rms_norm_grad(const bf16 *grad, const float *x, const float *gain, const float *scale, float *x_grad, float *gain_grad, long rows, long width) {
  for (long n = 0; n < rows; ++n, x += width, grad += width, x_grad += width) {
    float s = scale[n], inner = 0;
#pragma omp simd reduction(+ : inner)
    for (long i = 0; i < width; ++i) inner += widen(grad[i]) * gain[i] * x[i];
    inner *= s * s / width;
#pragma omp simd
    for (long i = 0; i < width; ++i) {
      float g = widen(grad[i]);
      x_grad[i] = s * (g * gain[i] - x[i] * inner);
      gain_grad[i] += g * x[i] * s;
    }
  }
}

/* y = silu(gate) * up; a row of gate_up holds gate [width], then up [width]. */
void swiglu(const bf16 *gate_up, bf16 *y, long rows, long width) {
  for (long n = 0; n < rows; ++n, gate_up += 2 * width, y += width)
#pragma omp simd
    for (long i = 0; i < width; ++i) {
      float gate = widen(gate_up[i]);
      y[i] = narrow(gate / (1 + exp_fast(-(gate > -80.0f ? gate : -80.0f))) * widen(gate_up[width + i]));
    }
}

void swiglu_grad(const bf16 *gate_up, const bf16 *grad, bf16 *out, long rows, long width) {
  for (long n = 0; n < rows; ++n, gate_up += 2 * width, grad += width, out += 2 * width)
#pragma omp simd
    for (long i = 0; i < width; ++i) {
      float gate = widen(gate_up[i]), up = widen(gate_up[width + i]), g = widen(grad[i]);
      float sigmoid = 1 / (1 + exp_fast(-(gate > -80.0f ? gate : -80.0f)));
      out[i] = narrow(g * up * sigmoid * (1 + gate * (1 - sigmoid)));
      out[width + i] = narrow(g * gate * sigmoid);
    }
}

/* In place over scores [groups, rows, L]: softmax(score + bias). The bias of group g, row r starts at
 * bias + (g / groups_per_bias) * bias_rows * L + (r % bias_rows) * L. L <= 1024. */
void softmax(bf16 *scores, const float *bias, long groups, long rows, long length, long groups_per_bias, long bias_rows) {
  float e[1024];
  for (long g = 0; g < groups; ++g)
    for (long r = 0; r < rows; ++r, scores += length) {
      const float *b = bias + ((g / groups_per_bias) * bias_rows + r % bias_rows) * length;
      float top = -1e30f, sum = 0;
#pragma omp simd reduction(max : top)
      for (long i = 0; i < length; ++i) {
        e[i] = widen(scores[i]) + b[i];
        top = e[i] > top ? e[i] : top;
      }
#pragma omp simd reduction(+ : sum)
      for (long i = 0; i < length; ++i) {
        e[i] = exp_fast(e[i] - top);
        sum += e[i];
      }
      sum = 1 / sum;
#pragma omp simd
      for (long i = 0; i < length; ++i) scores[i] = narrow(e[i] * sum);
    }
}

/* In place over grad [rows, L]: weights * (grad - sum(grad * weights)). */
void softmax_grad(bf16 *grad, const bf16 *weights, long rows, long length) {
  for (long r = 0; r < rows; ++r, grad += length, weights += length) {
    float inner = 0;
#pragma omp simd reduction(+ : inner)
    for (long i = 0; i < length; ++i) inner += widen(grad[i]) * widen(weights[i]);
#pragma omp simd
    for (long i = 0; i < length; ++i) grad[i] = narrow(widen(weights[i]) * (widen(grad[i]) - inner));
  }
}

/* One head row: rotates the interleaved pairs by the angle whose (cosine, sine) pairs are in `turn`, times `scale`. direction -1 turns back. */
static void rotate(const bf16 *from, bf16 *to, const float *turn, float scale, float direction, long width) {
#pragma omp simd
  for (long i = 0; i < width / 2; ++i) {
    float re = widen(from[2 * i]), im = widen(from[2 * i + 1]), c = turn[2 * i] * scale, s = turn[2 * i + 1] * scale * direction;
    to[2 * i] = narrow(re * c - im * s);
    to[2 * i + 1] = narrow(re * s + im * c);
  }
}

/* qkv [B, L, H + 2K, E] to rotated and scaled q [B, H, L, E], rotated k and plain v [B, K, L, E]. turns [L, E]. */
void split_heads(const bf16 *qkv, const float *turns, float q_scale, bf16 *q, bf16 *k, bf16 *v, long B, long L, long H, long K, long E) {
  for (long b = 0; b < B; ++b)
    for (long l = 0; l < L; ++l) {
      for (long h = 0; h < H; ++h, qkv += E) rotate(qkv, q + ((b * H + h) * L + l) * E, turns + l * E, q_scale, 1, E);
      for (long h = 0; h < K; ++h, qkv += E) rotate(qkv, k + ((b * K + h) * L + l) * E, turns + l * E, 1, 1, E);
      for (long h = 0; h < K; ++h, qkv += E) memcpy(v + ((b * K + h) * L + l) * E, qkv, E * sizeof *qkv);
    }
}

/* The gradient of split_heads. */
void split_heads_grad(const bf16 *q, const bf16 *k, const bf16 *v, const float *turns, float q_scale, bf16 *qkv, long B, long L, long H, long K,
                      long E) {
  for (long b = 0; b < B; ++b)
    for (long l = 0; l < L; ++l) {
      for (long h = 0; h < H; ++h, qkv += E) rotate(q + ((b * H + h) * L + l) * E, qkv, turns + l * E, q_scale, -1, E);
      for (long h = 0; h < K; ++h, qkv += E) rotate(k + ((b * K + h) * L + l) * E, qkv, turns + l * E, 1, -1, E);
      for (long h = 0; h < K; ++h, qkv += E) memcpy(qkv, v + ((b * K + h) * L + l) * E, E * sizeof *qkv);
    }
}
