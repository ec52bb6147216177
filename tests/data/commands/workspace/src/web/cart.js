export function total(items) {
  // FIXME: rounding
  return items.reduce((sum, item) => sum + item.price * item.count, 0);
}
