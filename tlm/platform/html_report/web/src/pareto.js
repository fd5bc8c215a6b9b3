// Which points no other one beats.

/**
 * The points that no other is as good as in all objectives and better in one. `values(point)` gives a number for each
 * objective, `goals` "min" or "max" for each. Points with a missing value are none of them.
 */
export function paretoFront(points, values, goals) {
  const known = points.map((point) => ({ point, v: values(point).map((x, i) => (goals[i] === "max" ? -x : x)) }))
    .filter((p) => p.v.every(Number.isFinite));
  const beats = (a, b) => a.v.every((x, i) => x <= b.v[i]) && a.v.some((x, i) => x < b.v[i]);
  return known.filter((p) => !known.some((other) => beats(other, p))).map((p) => p.point);
}
