"""Numbers as people read them: counts, sizes, durations, shares. Pure text; parses nothing."""


def count(number: int) -> str:
    """1234567 -> '1,234,567'."""
    return f"{number:,}"


def counted(number: int, noun: str) -> str:
    """(1, 'pair') -> '1 pair'; (29000, 'pair') -> '29,000 pairs'."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def size(num_bytes: float) -> str:
    """Decimal units, as disks and links are sold: 1_234_567 -> '1.2 MB'."""
    if num_bytes < 999.5:
        return f"{num_bytes:.0f} B"
    for unit in ("kB", "MB", "GB", "TB"):
        num_bytes /= 1000
        if num_bytes < 999.95:
            return f"{num_bytes:.1f} {unit}"
    return f"{num_bytes / 1000:.1f} PB"


def duration(seconds: float) -> str:
    """0.25 -> '0.2 s'; 75 -> '1 min 15 s'; 7384 -> '2 h 3 min'."""
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def share(part: float, whole: float) -> str:
    """(201, 29000) -> '0.69 %'; of nothing there is no share: (0, 0) -> '–'."""
    if not whole:
        return "–"
    percent = 100 * part / whole
    if 0 < percent < 0.01:
        return "< 0.01 %"
    if 99.5 <= percent < 100:  # nearly all is not all
        return "> 99.99 %" if percent > 99.99 else f"{percent:.2f} %"
    return f"{percent:.0f} %" if percent >= 10 or percent == 0 else f"{percent:.2g} %"
