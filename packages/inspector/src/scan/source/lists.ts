/** As `flatMap`. Most values lead to one other at most, and then no list is made again. */
export const gather = <From, To>(all: readonly From[], of: (one: From) => To[]): To[] => {
  const [first] = all
  return all.length === 1 && first !== undefined ? of(first) : all.flatMap(of)
}

/** As `concat`, and no new list when one of both is empty. */
export const join = <Item>(left: Item[], right: Item[]): Item[] => {
  if (left.length === 0) return right
  return right.length === 0 ? left : [...left, ...right]
}

/** The first ones. */
export const atMost = <Item>(most: number, all: Item[]): Item[] =>
  all.length > most ? all.slice(0, most) : all
