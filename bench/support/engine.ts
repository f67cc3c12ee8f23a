import { median, say, showPaired, showSpread } from './figures.ts'
import { inTurns } from './lanes.ts'

/**
 * Compares seconds of an engine with those of the bare way, after rounds that warm either up. `size` is that of a
 * result.
 */
export const compareEngine = async (
  [bench, name]: readonly [string, string],
  ways: Record<'engine' | 'bare', () => Promise<number>>,
  { rounds, warm, size, unit }: { rounds: number; warm: number; size: number; unit: string },
): Promise<void> => {
  const { engine, bare } = await inTurns(rounds, ways, warm)
  showSpread(`${name}, engine`, engine, 's')
  showSpread(`${name}, bare`, bare, 's')
  say(`${name}: ${(median(engine) / size).toFixed(3)} s for each ${unit}`)
  showPaired(`${bench}.${name}`, [engine, bare], { atMost: AIM })
}

const AIM = 1.15
