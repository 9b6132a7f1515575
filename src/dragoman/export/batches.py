"""Which sentences a model translates together: of similar length, in batches that the workers share evenly."""

from collections.abc import Sequence


def batches_of(lengths: Sequence[int], num_workers: int, most_pieces: int) -> list[list[int]]:
    """Numbers of sentences, the longest first, so that all workers end at about the same time.

    No batch has more pieces than allowed, padding and the ends of sentences included, unless it is one sentence. There
    are as many as every worker gets the same number of, and they are about equally large: a rest of one sentence costs
    a worker nearly as much time as a full batch.
    """
    order = sorted(range(len(lengths)), key=lambda number: -lengths[number])
    num_wanted = -(-len(_cut(order, lengths, most_pieces)) // num_workers) * num_workers
    least, most = 1, most_pieces
    while least < most:
        middle = (least + most) // 2
        if len(_cut(order, lengths, middle)) <= num_wanted:
            most = middle
        else:
            least = middle + 1
    return _cut(order, lengths, most)


def _cut(order: Sequence[int], lengths: Sequence[int], most_pieces: int) -> list[list[int]]:
    """Batches in this order, each as full as it may be."""
    batches: list[list[int]] = []
    longest = 0
    for number in order:
        if not batches or (len(batches[-1]) + 1) * longest > most_pieces:
            batches.append([])
            longest = lengths[number] + 1
        batches[-1].append(number)
    return batches
