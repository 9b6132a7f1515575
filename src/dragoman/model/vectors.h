/* As many numbers at a time as a register has, in the compiler's own vectors: sixteen with AVX-512, else eight. Wider
   vectors than the machine's would be right as well, but shuffled number by number. */

#include <stdint.h>
#include <string.h>

#ifdef __AVX512F__
#define LANES 16
#define EACH_LANE {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}
#else
#define LANES 8
#define EACH_LANE {0, 1, 2, 3, 4, 5, 6, 7}
#endif
typedef float vector __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
typedef int32_t whole_vector __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
typedef uint32_t bits_vector __attribute__((vector_size(4 * LANES), aligned(4), may_alias));

static inline vector load(const float *numbers)
{
    return *(const vector *) numbers;
}

static inline void store(float *numbers, vector x)
{
    *(vector *) numbers = x;
}

typedef uint16_t narrow; /* bfloat16: the upper half of a float */
typedef uint16_t narrow_vector __attribute__((vector_size(2 * LANES), aligned(2), may_alias));
typedef uint8_t byte_vector __attribute__((vector_size(LANES), aligned(1), may_alias));

static inline float widened(narrow number)
{
    uint32_t bits = (uint32_t) number << 16;
    float result;
    memcpy(&result, &bits, 4);
    return result;
}

/* To the nearest, ties to even. Numbers here are finite or the whole row is not. */
static inline narrow narrowed(float number)
{
    uint32_t bits;
    memcpy(&bits, &number, 4);
    return (narrow) ((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* Numbers of either kind. */
static inline vector load_any(const void *numbers, int64_t at, int64_t is_narrow)
{
    if (!is_narrow)
        return load((const float *) numbers + at);
    narrow_vector halves = *(const narrow_vector *) ((const narrow *) numbers + at);
    return (vector) (__builtin_convertvector(halves, bits_vector) << 16);
}

static inline void store_any(void *numbers, int64_t at, vector x, int64_t is_narrow)
{
    bits_vector bits = (bits_vector) x;
    if (is_narrow) /* as `narrowed` */
        *(narrow_vector *) ((narrow *) numbers + at) =
            __builtin_convertvector((bits + 0x7fff + (bits >> 16 & 1)) >> 16, narrow_vector);
    else
        store((float *) numbers + at, x);
}

static inline vector chosen(whole_vector is_x, vector x, vector y)
{
    return (vector) (((whole_vector) x & is_x) | ((whole_vector) y & ~is_x));
}

static inline vector larger(vector x, vector y)
{
    return chosen(x > y, x, y);
}

/* The other half of lanes, quarter, eighth and so on: `lane ^ distance`. */
static inline vector swapped(vector x, int32_t distance)
{
    return __builtin_shuffle(x, (whole_vector) EACH_LANE ^ distance);
}

/* Halves fold onto each other until all lanes hold the result. */
#define FOLD(x, join)                                                                                                  \
    for (int32_t distance = LANES / 2; distance; distance /= 2)                                                        \
    x = join(x, swapped(x, distance))

static inline vector added(vector x, vector y)
{
    return x + y;
}

static inline float largest_lane(vector x)
{
    FOLD(x, larger);
    return x[0];
}

static inline float sum_of_lanes(vector x)
{
    FOLD(x, added);
    return x[0];
}

/* Rows become columns: blocks of a half, a quarter and so on off the diagonal change places. */
static inline void turn(vector x[LANES])
{
    const whole_vector lane = EACH_LANE;
#pragma GCC unroll 4
    for (int32_t size = LANES / 2; size; size /= 2)
#pragma GCC unroll 16
        for (int i = 0; i < LANES; i++)
            if (!(i & size)) {
                /* Every second block of `size` lanes of this row changes places with the one before it of the other. */
                whole_vector places = lane + (((lane & size) != 0) & (LANES - size));
                vector before = x[i];
                x[i] = __builtin_shuffle(before, x[i + size], places);
                x[i + size] = __builtin_shuffle(before, x[i + size], places + size);
            }
}

/* e^x for x <= 0, to 1e-7: 2^whole x e^rest, with a polynomial for the rest (Cephes). */
static inline vector exponential(vector x)
{
    x = chosen(x < -87.0f, (vector) {0} - 87.0f, x); /* a NaN is not less, and stays what it is */
    whole_vector whole = __builtin_convertvector(x * 1.44269504f - 0.5f, whole_vector);
    vector power = (vector) ((whole + 127) << 23), exponent = __builtin_convertvector(whole, vector);
    vector r = x - exponent * 0.693359375f + exponent * 2.12194440e-4f;
    vector p = r * 1.9875691500e-4f + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    return (p * r * r + r + 1.0f) * power;
}

/* `count` numbers, followed by room up to a whole vector, become e to their power, all divided by e to the largest; what
   stands after them becomes 0. Gives their sum. */
static inline float exponentials(float *numbers, int64_t count)
{
    const whole_vector lanes = EACH_LANE;
    int64_t whole = count / LANES * LANES;
    whole_vector is_there = lanes < (int32_t) (count - whole);
    vector total = {0}, last = {0}, most = (vector) {0} + numbers[0];
    for (int64_t i = 0; i < whole; i += LANES)
        most = larger(most, load(numbers + i));
    if (whole < count) {
        last = load(numbers + whole);
        most = larger(most, chosen(is_there, last, most));
    }
    most = (vector) {0} + largest_lane(most);
    for (int64_t i = 0; i < whole; i += LANES) {
        vector e = exponential(load(numbers + i) - most);
        store(numbers + i, e);
        total += e;
    }
    if (whole < count) {
        last = chosen(is_there, exponential(last - most), (vector) {0});
        store(numbers + whole, last);
        total += last;
    }
    return sum_of_lanes(total);
}
