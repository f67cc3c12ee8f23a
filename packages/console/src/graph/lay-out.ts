/** Space between columns, and between the nodes of one, titles included. */
const [ASIDE, BELOW] = [90, 60]

interface Edge {
  start: number
  end: number
}

/** Gives nodes without places one: each stands in the column behind the last of those that it is linked to. */
export const layOut = <Node extends { width: number; height: number }>(
  nodes: readonly Node[],
  edges: readonly Edge[],
): (Node & { x: number; y: number })[] => {
  const columns = columnsOf(nodes.length, edges)
  const widest = Math.max(0, ...nodes.map(({ width }) => Math.min(width, 600)))
  const bottoms = new Map<number, number>()
  return nodes.map((node, index) => {
    const column = columns[index] ?? 0
    const y = bottoms.get(column) ?? 0
    bottoms.set(column, y + node.height + BELOW)
    return { ...node, x: column * (widest + ASIDE), y }
  })
}

/** The longest way that leads to each; nodes of a ring, and those behind it, stay in the column where that ends. */
const columnsOf = (count: number, edges: readonly Edge[]): number[] => {
  const columns = Array.from({ length: count }, () => 0)
  const open = Array.from({ length: count }, () => 0)
  const leaving = Array.from({ length: count }, (): number[] => [])
  for (const { start, end } of edges) {
    leaving[start]?.push(end)
    open[end] = (open[end] ?? 0) + 1
  }
  const waiting = columns.flatMap((_, index) => (open[index] === 0 ? [index] : []))
  for (const start of waiting)
    for (const end of leaving[start] ?? []) {
      columns[end] = Math.max(columns[end] ?? 0, (columns[start] ?? 0) + 1)
      open[end] = (open[end] ?? 0) - 1
      if (open[end] === 0) waiting.push(end)
    }
  return columns
}
