import { smoothstep } from './vector.ts'
import type { Vec } from './vector.ts'

/** The light that a window with blinds throws on a dark wall, with a soft lamp beside it. Grey, for `paint`, 3:2. */
export function blinds(u: number, v: number): Vec {
  const x = (u - 0.4) * 1.5
  const y = v - 0.47
  const across = x * 1.08 + y * 0.22
  const down = y * 1.05 - x * 0.3
  const grey = 0.9 * pane(across, down) * slat(down) + 0.35 * lamp(u, v) + 0.006
  return [grey, grey, grey]
}

/** Two panes with a bar between; the shadow of the frame is softer the farther from the window. */
function pane(across: number, down: number): number {
  const soft = 0.012 + 0.02 * smoothstep(-0.4, 0.4, across)
  const high = edge(down, -0.36, 0.36, soft)
  return high * (edge(across, -0.42, -0.02, soft) + edge(across, 0.02, 0.42, soft))
}

const SLATS = 13

function slat(down: number): number {
  const at = down * SLATS
  const t = Math.abs(at - Math.floor(at) - 0.5)
  return 0.06 + 0.94 * smoothstep(0.4, 0.22, t)
}

const lamp = (u: number, v: number): number =>
  Math.exp(-(((u - 0.9) / 0.2) ** 2) - ((v - 0.25) / 0.3) ** 2)

const edge = (at: number, low: number, high: number, soft: number): number =>
  smoothstep(low - soft, low + soft, at) * smoothstep(high + soft, high - soft, at)
