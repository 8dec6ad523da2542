"""The basket of a customer, from the first item to the order."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal

LIMIT = 50
FREE_SHIPPING = Decimal("49.00")


class BasketFull(Exception):
    """No more than `LIMIT` items fit in."""


@dataclass
class Basket:
    """What a customer wants to buy."""

    customer: str
    items: dict[str, int] = field(default_factory=dict)
    prices: dict[str, Decimal] = field(default_factory=dict)
    coupon: str = ""

    def add(self, sku: str, price: Decimal, count: int = 1) -> None:
        """Put an item in, or more of one that is there."""
        if sum(self.items.values()) + count > LIMIT:
            raise BasketFull(sku)
        known = self.items.get(sku, 0)
        self.items[sku] = known + count
        self.prices[sku] = price

    def remove(self, sku: str) -> None:
        """Take an item out, all of it."""
        if sku not in self.items:
            return
        del self.items[sku]
        del self.prices[sku]

    def total(self, rates: dict[str, Decimal]) -> Decimal:
        """Price of all items with tax, before shipping."""
        out = Decimal(0)
        for sku, count in self.items.items():
            price = self.prices[sku]
            rate = rates.get(sku[:2], Decimal("0.19"))
            out += count * price * (1 + rate)
        if self.coupon:
            out = self._reduced(out)
        return out.quantize(Decimal("0.01"))

    def _reduced(self, amount: Decimal) -> Decimal:
        kind, _, value = self.coupon.partition("-")
        if kind == "percent":
            return amount * (100 - Decimal(value)) / 100
        if kind == "fixed":
            return max(Decimal(0), amount - Decimal(value))
        return amount


def shipping(basket: Basket, total: Decimal) -> Decimal:
    """What shipping costs: nothing for large orders."""
    if total >= FREE_SHIPPING:
        return Decimal(0)
    heavy = [sku for sku in basket.items if sku.startswith("H")]
    if heavy:
        return Decimal("9.90")
    return Decimal("4.90")


def checkout(basket: Basket, rates: dict[str, Decimal], pay) -> str:
    """Pay a basket; returns the number of the order."""
    total = basket.total(rates)
    due = total + shipping(basket, total)
    answer = pay(basket.customer, due)
    if not answer["paid"]:
        raise RuntimeError(answer["reason"])
    basket.items.clear()
    basket.prices.clear()
    return answer["order"]
