/* From logits to the gradient of cross-entropy, row by row, each wholly inside its cache: one pass over memory instead of
   several. `model/kernel.py` builds and calls this; `model/loss.py` says what it computes, and does so itself where there
   is no compiler. */

#include <stdint.h>
#include <stdlib.h>

#include "vectors.h"

/* Logits become probabilities, with `smoothing` - 1 added at the target. Tells the logit and the probability there.
   0, or 1 where memory ran out. */
int loss_rows(narrow *logits, int64_t rows, int64_t columns, const int64_t *target, float smoothing,
    float *target_logit, float *probability, int64_t threads)
{
    int failed = 0;
#pragma omp parallel num_threads(threads) reduction(| : failed)
    {
        float *wide = aligned_alloc(64, (size_t) (columns * 4 + 63) / 64 * 64);
        failed = !wide;
#pragma omp for schedule(static)
        for (int64_t r = 0; r < rows; r++) {
            if (!wide)
                continue;
            narrow *row = logits + r * columns;
            for (int64_t c = 0; c < columns; c++)
                wide[c] = widened(row[c]);
            target_logit[r] = wide[target[r]];
            float factor = 1.0f / exponentials(wide, columns);
            probability[r] = wide[target[r]] * factor;
            for (int64_t c = 0; c < columns; c++)
                row[c] = narrowed(wide[c] * factor);
            row[target[r]] = narrowed(probability[r] + smoothing - 1.0f);
        }
        free(wide);
    }
    return failed;
}
