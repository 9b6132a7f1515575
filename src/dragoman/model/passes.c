/* What lies between the matrix products of a sub-layer: norm, bias, relu, dropout, residual connection and their
   gradients, each group one pass over its numbers. `model/kernel.py` builds and calls this; `model/passes.py` says what
   each computes, and does so itself where there is no compiler.

   Rows are whole vectors wide. Numbers are float, or bfloat16 where a product took or gave them (`is_narrow`). Each
   thread has a block of rows; column sums of blocks are added in their order, so that a run can be repeated exactly. */

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "vectors.h"

#define PIECE (1 << 22) /* of a mask, as `LONGEST` of `model/noise.py` */

typedef struct {
    int64_t rows, width, is_narrow, threads;
    const uint8_t *first, *second; /* tables of random bytes, laid over each other */
    const int64_t *places;         /* where each piece begins in either */
    int64_t dropped;               /* numbers whose byte is less are dropped; 0: none */
} Pass;

/* x where the mask keeps it, else 0. A vector never lies in two pieces. */
static inline vector kept(const Pass *p, int64_t at, vector x)
{
    if (!p->dropped)
        return x;
    const int64_t *place = p->places + 2 * (at / PIECE);
    const uint8_t *first = p->first + place[0] + at % PIECE, *second = p->second + place[1] + at % PIECE;
    byte_vector bytes = *(const byte_vector *) first ^ *(const byte_vector *) second;
    return (vector) ((whole_vector) x & (__builtin_convertvector(bytes, whole_vector) >= (int32_t) p->dropped));
}

/* Sums of columns, a line of `width` for each thread, become the first line. */
static void join(const Pass *p, int64_t width, float *sums)
{
    for (int64_t thread = 1; thread < p->threads; thread++)
        for (int64_t c = 0; c < width; c += LANES)
            store(sums + c, load(sums + c) + load(sums + thread * width + c));
}

/* BLOCK: `row` goes through the rows of this thread, `sums` is its line of `sums_width` sums, 0 at first.  */
#define BLOCK(p, all_sums, sums_width)                                                                                 \
    _Pragma("omp parallel for num_threads(p->threads) schedule(static, 1)") for (int64_t block = 0;                    \
                                                                                 block < p->threads; block++)          \
    {                                                                                                                  \
        float *sums = all_sums ? all_sums + block * (sums_width) : NULL;                                               \
        for (int64_t c = 0; sums && c < (sums_width); c++)                                                             \
            sums[c] = 0.0f;                                                                                            \
        for (int64_t row = p->rows * block / p->threads; row < p->rows * (block + 1) / p->threads; row++)

#define END_BLOCK }

static inline void add_to(float *sums, vector x)
{
    store(sums, load(sums) + x);
}

/* normed = (x - mean) / deviation x scale + shift; keeps mean and 1 / deviation of each row. */
void norm_forward(const Pass *p, const float *x, const float *scale, const float *shift, float epsilon, void *normed,
    float *mean, float *rstd)
{
    BLOCK(p, (float *) NULL, 0)
    {
        const float *in = x + row * p->width;
        vector total = {0}, squares = {0};
        for (int64_t c = 0; c < p->width; c += LANES)
            total += load(in + c);
        float centre = sum_of_lanes(total) / (float) p->width;
        for (int64_t c = 0; c < p->width; c += LANES)
            squares += (load(in + c) - centre) * (load(in + c) - centre);
        float factor = 1.0f / sqrtf(sum_of_lanes(squares) / (float) p->width + epsilon);
        for (int64_t c = 0; c < p->width; c += LANES)
            store_any(normed, row * p->width + c, (load(in + c) - centre) * factor * load(scale + c) + load(shift + c),
                p->is_narrow);
        mean[row] = centre;
        rstd[row] = factor;
    }
    END_BLOCK
}

/* d_x = gradient through the norm + what came round it. Sums: those of scale, then of shift. */
void norm_backward(const Pass *p, const void *d_normed, const float *x, const float *mean, const float *rstd,
    const float *scale, const float *d_round, float *d_x, float *all_sums)
{
    BLOCK(p, all_sums, 2 * p->width)
    {
        const float *in = x + row * p->width;
        vector direct = {0}, through = {0};
        for (int64_t c = 0; c < p->width; c += LANES) {
            vector d = load_any(d_normed, row * p->width + c, p->is_narrow);
            vector place = (load(in + c) - mean[row]) * rstd[row];
            add_to(sums + c, d * place);
            add_to(sums + p->width + c, d);
            d *= load(scale + c);
            direct += d;
            through += d * place;
        }
        float mean_direct = sum_of_lanes(direct) / (float) p->width;
        float mean_through = sum_of_lanes(through) / (float) p->width;
        for (int64_t c = 0; c < p->width; c += LANES) {
            vector d = load_any(d_normed, row * p->width + c, p->is_narrow) * load(scale + c);
            vector place = (load(in + c) - mean[row]) * rstd[row];
            store(d_x + row * p->width + c,
                load(d_round + row * p->width + c) + (d - mean_direct - place * mean_through) * rstd[row]);
        }
    }
    END_BLOCK
    join(p, 2 * p->width, all_sums);
}

/* out = x + factor x dropout(y + bias); there may be no bias. */
void residual_forward(const Pass *p, const float *x, const void *y, const float *bias, float factor, float *out)
{
    BLOCK(p, (float *) NULL, 0)
    for (int64_t c = 0; c < p->width; c += LANES) {
        int64_t at = row * p->width + c;
        vector sum = load_any(y, at, p->is_narrow);
        if (bias)
            sum += load(bias + c);
        store(out + at, load(x + at) + kept(p, at, sum) * factor);
    }
    END_BLOCK
}

/* d_y = dropout(d_out), without its factor; its column sums where they are wanted. */
void residual_backward(const Pass *p, const float *d_out, void *d_y, float *all_sums)
{
    BLOCK(p, all_sums, p->width)
    for (int64_t c = 0; c < p->width; c += LANES) {
        int64_t at = row * p->width + c;
        vector d = kept(p, at, load(d_out + at));
        store_any(d_y, at, d, p->is_narrow);
        if (sums)
            add_to(sums + c, d);
    }
    END_BLOCK
    if (all_sums)
        join(p, p->width, all_sums);
}

/* inner becomes dropout(relu(inner + bias)), without dropout's factor. */
void relu_forward(const Pass *p, void *inner, const float *bias)
{
    BLOCK(p, (float *) NULL, 0)
    for (int64_t c = 0; c < p->width; c += LANES) {
        int64_t at = row * p->width + c;
        vector x = load_any(inner, at, p->is_narrow) + load(bias + c);
        x = chosen(x < 0.0f, (vector) {0}, x); /* a NaN is not less, and stays */
        store_any(inner, at, kept(p, at, x), p->is_narrow);
    }
    END_BLOCK
}

/* d becomes 0 where relu or dropout gave 0; and its column sums. */
void relu_backward(const Pass *p, void *d, const void *active, float *all_sums)
{
    BLOCK(p, all_sums, p->width)
    for (int64_t c = 0; c < p->width; c += LANES) {
        int64_t at = row * p->width + c;
        vector x = load_any(d, at, p->is_narrow);
        x = chosen(load_any(active, at, p->is_narrow) > 0.0f, x, (vector) {0});
        store_any(d, at, x, p->is_narrow);
        add_to(sums + c, x);
    }
    END_BLOCK
    join(p, p->width, all_sums);
}
