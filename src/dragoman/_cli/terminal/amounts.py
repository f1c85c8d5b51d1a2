"""Amounts of tokens and money, as short as a person reads them."""


def counted(number: int) -> str:
    """A number of tokens: 950, 15.3 k, 2.4 M."""
    for size, unit in ((1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k")):
        if number >= size:
            return f"{number / size:.1f} {unit}"
    return str(number)


def share(part: int, whole: int) -> str:
    """How much of the whole a part is; a dash if there is none."""
    return f"{part / whole:.0%}" if whole else "–"


def dollars(amount: float) -> str:
    """An amount of money: cents where there are dollars, more where there are none."""
    return f"${amount:,.2f}" if amount >= 1 or amount == 0 else f"${amount:.4f}"


def cost_of(reported: float | None, estimated: float | None, unpriced: int, calls: int) -> str:
    """What calls cost: `~` where some of it is estimated, `≥` where some is not known, `?` where nothing is."""
    if calls and unpriced == calls:
        return "?"
    if reported is None and estimated is None:
        return "–"
    sign = ("≥" if unpriced else "") + ("~" if estimated is not None else "")
    return sign + dollars((reported or 0.0) + (estimated or 0.0))
