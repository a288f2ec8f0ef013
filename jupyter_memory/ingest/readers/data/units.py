"""The unit that a name of a column states: `price [EUR]`, `speed (km/h)`, `temp_c`."""

from __future__ import annotations

import re

_BRACKETS = re.compile(r"[\[(]\s*([^\[\]()]{1,20}?)\s*[\])]\s*$")
_LAST = re.compile(r"_([A-Za-z]{1,5})$")
# What is in brackets and no unit.
_UNIT = re.compile(r"[^\W\d_]|[%°€$£¥Ωµ‰]")
_PLAIN = re.compile(r"[\w%°€$£¥Ωµ‰/*^.·²³⁻¹ -]{1,20}")
# Endings after an underscore that hardly mean anything else.
_ENDINGS = {
    "degc": "°C", "celsius": "°C", "degf": "°F", "kelvin": "K",
    "eur": "EUR", "usd": "USD", "gbp": "GBP", "chf": "CHF", "jpy": "JPY", "sek": "SEK", "dkk": "DKK", "nok": "NOK",
    "pct": "%", "percent": "%",
    "mm": "mm", "cm": "cm", "km": "km", "nm": "nm", "m2": "m²", "m3": "m³", "km2": "km²",
    "mg": "mg", "kg": "kg", "lbs": "lb",
    "ms": "ms", "ns": "ns", "sec": "s", "secs": "s", "mins": "min", "hrs": "h",
    "kw": "kW", "mw": "MW", "gw": "GW", "kwh": "kWh", "mwh": "MWh", "gwh": "GWh",
    "hz": "Hz", "khz": "kHz", "mhz": "MHz", "ghz": "GHz",
    "kb": "kB", "mb": "MB", "gb": "GB", "tb": "TB",
    "hpa": "hPa", "kpa": "kPa", "mbar": "mbar", "psi": "psi",
    "kmh": "km/h", "kph": "km/h", "mph": "mph", "rpm": "rpm", "ppm": "ppm", "ppb": "ppb",
}  # fmt: skip
# Endings that mean a temperature where the name says so.
_DEGREES = {"c": "°C", "f": "°F", "k": "K"}


def unit_in(name: str) -> str:
    """Return the unit that a name states, nothing where it states none.

    >>> unit_in("price [EUR]"), unit_in("temp_c"), unit_in("speed (km/h)"), unit_in("customer_id")
    ('EUR', '°C', 'km/h', '')
    """
    if found := _BRACKETS.search(name):
        return found[1] if _UNIT.search(found[1]) and stated_unit(found[1]) else ""
    found = _LAST.search(name)
    if found is None:
        return ""
    of_temperature = _DEGREES if "temp" in name.lower() else {}
    return (_ENDINGS | of_temperature).get(found[1].lower(), "")


def stated_unit(value: str) -> str:
    """Return a unit that a file states apart from the name, nothing for what is too long or too odd to be one."""
    return value if _PLAIN.fullmatch(value) and len(value.split()) <= 3 else ""
