import DataLoader from 'dataloader'

/**
 * Does work of many callers in one go: what they ask for while the batch before is under way makes the next one. `work`
 * returns results in the order of its items; its error reaches all their callers.
 */
export const makeBatch = <Item, Result>(
  work: (items: readonly Item[]) => Promise<readonly Result[]>,
  maxBatchSize = 100,
): ((item: Item) => Promise<Result>) => {
  let underWay = 0
  const waiting: (() => void)[] = []
  const loader = new DataLoader<Item, Result>(
    async (items) => {
      underWay += 1
      try {
        return await work(items)
      } finally {
        underWay -= 1
        waiting.shift()?.()
      }
    },
    {
      cache: false,
      maxBatchSize,
      batchScheduleFn: (dispatch) => {
        if (underWay === 0) setImmediate(dispatch)
        else waiting.push(dispatch)
      },
    },
  )
  return (item) => loader.load(item)
}
