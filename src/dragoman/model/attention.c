/* Attention of all sentences and heads of a batch, straight from packed rows to packed rows.

   One (sentence, head) after the other, each by one thread and wholly inside its cache: no padding, no copies of heads,
   and results that do not depend on the number of threads. `model/kernel.py` builds and calls this; `model/fused.py`
   says what it computes, and does so itself where there is no compiler. */

#include <stdint.h>
#include <stdlib.h>

#include "vectors.h"

typedef struct {
    const float *q, *k, *v; /* packed rows; head h begins at h x width of each */
    int64_t q_stride, kv_stride;
    const int64_t *q_first, *k_first; /* row where each sentence begins, and one more for the end */
    int64_t sentences, heads, width;
    int64_t queries, keys, keys_stride; /* of the longest sentences; rows of `weights` are rounded up to whole vectors */
    int64_t is_causal, threads;
    float scale;
    const float *keep; /* (sentences x heads, queries, keys) of 0 and 1, or none */
    float *weights;    /* (sentences x heads, queries, keys_stride): softmax before dropout */
} Attention;

/* A tile fills the registers: 32 of them with AVX-512, else 16, with some left for what is multiplied. */
#ifdef __AVX512F__
#define TILE_ROWS 8
#else
#define TILE_ROWS 6
#endif

/* out = factor x left x right, R rows by V vectors at a time, in registers. */
__attribute__((always_inline)) static inline void tile(int R, int V, int64_t depth, const float *left, int64_t left_row,
    int64_t left_column, const float *right, int64_t right_row, float *out, int64_t out_row, float factor)
{
    vector sum[TILE_ROWS][2];
    for (int r = 0; r < R; r++)
        for (int c = 0; c < V; c++)
            sum[r][c] = (vector) {0};
    for (int64_t i = 0; i < depth; i++)
        for (int r = 0; r < R; r++) {
            float x = left[r * left_row + i * left_column];
            for (int c = 0; c < V; c++)
                sum[r][c] += x * load(right + i * right_row + c * LANES);
        }
    for (int r = 0; r < R; r++)
        for (int c = 0; c < V; c++)
            store(out + r * out_row + c * LANES, sum[r][c] * factor);
}

#define TILE(R, V)                                                                                                     \
    tile(R, V, depth, left + row * left_row, left_row, left_column, right + column, right_row,                         \
        out + row * out_row + column, out_row, factor)
#define LAST_ROWS(R, V)                                                                                                \
    case R:                                                                                                            \
        if (R < TILE_ROWS)                                                                                             \
            TILE(R, V);                                                                                                \
        break
/* All rows of V columns of vectors; what is left of a tile in one as well, for a sum alone waits for itself. */
#define ROWS(V)                                                                                                        \
    int64_t row = 0;                                                                                                   \
    for (; row + TILE_ROWS <= rows; row += TILE_ROWS)                                                                  \
        TILE(TILE_ROWS, V);                                                                                            \
    switch (rows - row) {                                                                                              \
        LAST_ROWS(1, V);                                                                                               \
        LAST_ROWS(2, V);                                                                                               \
        LAST_ROWS(3, V);                                                                                               \
        LAST_ROWS(4, V);                                                                                               \
        LAST_ROWS(5, V);                                                                                               \
        LAST_ROWS(6, V);                                                                                               \
        LAST_ROWS(7, V);                                                                                               \
    }

/* out (rows x columns) = factor x left (rows x depth) x right (depth x columns); columns are whole vectors. */
static void multiply(int64_t rows, int64_t columns, int64_t depth, const float *left, int64_t left_row,
    int64_t left_column, const float *right, int64_t right_row, float *out, int64_t out_row, float factor)
{
    int64_t column = 0;
    for (; column + 2 * LANES <= columns; column += 2 * LANES) {
        ROWS(2)
    }
    for (; column < columns; column += LANES) {
        ROWS(1)
    }
}

/* out (columns x rows) = in (rows x columns) turned, a block of vectors at a time; columns are whole vectors, and rows
   of out are filled up to whole vectors with 0. */
static void transpose(int64_t rows, int64_t columns, const float *in, int64_t in_row, float *out, int64_t out_row)
{
    for (int64_t row = 0; row < rows; row += LANES)
        for (int64_t column = 0; column < columns; column += LANES) {
            vector block[LANES];
            for (int r = 0; r < LANES; r++)
                block[r] = row + r < rows ? load(in + (row + r) * in_row + column) : (vector) {0};
            turn(block);
            for (int c = 0; c < LANES; c++)
                store(out + (column + c) * out_row + row, block[c]);
        }
}

/* The first `seen` numbers of a row become their softmax, the others up to `stride` 0. */
static void softmax(float *row, int64_t seen, int64_t stride)
{
    float factor = 1.0f / exponentials(row, seen);
    for (int64_t s = 0; s < seen; s += LANES)
        store(row + s, load(row + s) * factor);
    for (int64_t s = (seen + LANES - 1) / LANES * LANES; s < stride; s += LANES)
        store(row + s, (vector) {0});
}

/* out = weights x mask, of what is seen. */
static void dropped(const Attention *a, const float *weights, const float *keep, int64_t rows, int64_t seen, float *out)
{
    for (int64_t t = 0; t < rows; t++)
        for (int64_t s = 0; s < seen; s++)
            out[t * a->keys_stride + s] = weights[t * a->keys_stride + s] * keep[t * a->keys + s];
}

static float *scratch(int64_t numbers)
{
    return aligned_alloc(64, (size_t) (numbers * 4 + 63) / 64 * 64);
}

/* context = dropout(softmax(scale x q k^T)) v, without dropout's factor. 0, or 1 where memory ran out. */
int attention_forward(const Attention *a, float *context, int64_t context_stride)
{
    int failed = 0;
#pragma omp parallel num_threads(a->threads) reduction(| : failed)
    {
        float *turned = scratch(a->width * a->keys_stride), *masked = scratch(a->queries * a->keys_stride);
        failed = !turned || !masked;
#pragma omp for schedule(static)
        for (int64_t g = 0; g < a->sentences * a->heads; g++) {
            if (!turned || !masked)
                continue;
            int64_t b = g / a->heads, offset = g % a->heads * a->width;
            int64_t rows = a->q_first[b + 1] - a->q_first[b], seen = a->k_first[b + 1] - a->k_first[b];
            int64_t stride = (seen + LANES - 1) / LANES * LANES;
            const float *q = a->q + a->q_first[b] * a->q_stride + offset;
            const float *k = a->k + a->k_first[b] * a->kv_stride + offset;
            const float *v = a->v + a->k_first[b] * a->kv_stride + offset;
            float *weights = a->weights + g * a->queries * a->keys_stride;
            transpose(seen, a->width, k, a->kv_stride, turned, stride);
            multiply(rows, stride, a->width, q, a->q_stride, 1, turned, stride, weights, a->keys_stride, a->scale);
            for (int64_t t = 0; t < rows; t++)
                softmax(weights + t * a->keys_stride, a->is_causal ? t + 1 : seen, a->keys_stride);
            if (a->keep)
                dropped(a, weights, a->keep + g * a->queries * a->keys, rows, seen, masked);
            multiply(rows, a->width, seen, a->keep ? masked : weights, a->keys_stride, 1, v, a->kv_stride,
                context + a->q_first[b] * context_stride + offset, context_stride, 1.0f);
        }
        free(turned);
        free(masked);
    }
    return failed;
}

/* Gradients of q, k and v, laid out as they are, from that of the context. 0, or 1 where memory ran out. */
int attention_backward(
    const Attention *a, const float *d_context, int64_t context_stride, float *d_q, float *d_k, float *d_v)
{
    int failed = 0;
#pragma omp parallel num_threads(a->threads) reduction(| : failed)
    {
        float *turned = scratch(a->width * a->keys_stride), *masked = scratch(a->queries * a->keys_stride);
        float *d_scores = scratch(a->queries * a->keys_stride);
        failed = !turned || !masked || !d_scores;
#pragma omp for schedule(static)
        for (int64_t g = 0; g < a->sentences * a->heads; g++) {
            if (!turned || !masked || !d_scores)
                continue;
            int64_t b = g / a->heads, offset = g % a->heads * a->width, row = a->keys_stride;
            int64_t rows = a->q_first[b + 1] - a->q_first[b], seen = a->k_first[b + 1] - a->k_first[b];
            int64_t stride = (seen + LANES - 1) / LANES * LANES;
            int64_t q_at = a->q_first[b] * a->q_stride + offset, kv_at = a->k_first[b] * a->kv_stride + offset;
            const float *weights = a->weights + g * a->queries * a->keys_stride;
            const float *keep = a->keep ? a->keep + g * a->queries * a->keys : NULL;
            const float *d_out = d_context + a->q_first[b] * context_stride + offset;
            if (keep)
                dropped(a, weights, keep, rows, seen, masked);
            multiply(seen, a->width, rows, keep ? masked : weights, 1, row, d_out, context_stride, d_v + kv_at,
                a->kv_stride, 1.0f);
            transpose(seen, a->width, a->v + kv_at, a->kv_stride, turned, stride);
            multiply(rows, stride, a->width, d_out, context_stride, 1, turned, stride, d_scores, row, 1.0f);
            for (int64_t t = 0; t < rows; t++) {
                float *d = d_scores + t * row;
                const float *w = weights + t * row; /* 0 where nothing is seen */
                vector dots = {0};
                if (keep)
                    for (int64_t s = 0; s < seen; s++)
                        d[s] *= keep[t * a->keys + s];
                for (int64_t s = 0; s < seen; s += LANES)
                    dots += load(d + s) * load(w + s);
                float dot = sum_of_lanes(dots);
                for (int64_t s = 0; s < seen; s += LANES)
                    store(d + s, (load(d + s) - dot) * load(w + s) * a->scale);
            }
            multiply(rows, a->width, seen, d_scores, row, 1, a->k + kv_at, a->kv_stride, d_q + q_at, a->q_stride, 1.0f);
            multiply(seen, a->width, rows, d_scores, 1, row, a->q + q_at, a->q_stride, d_k + kv_at, a->kv_stride, 1.0f);
        }
        free(turned);
        free(masked);
        free(d_scores);
    }
    return failed;
}
