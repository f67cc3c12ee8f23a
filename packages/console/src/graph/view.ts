import { TITLE, type DrawnNode } from './read-workflow.ts'

/** The part of a drawing that is seen: a point of it is drawn at `x + scale * its x`. */
export interface View {
  x: number
  y: number
  scale: number
}

interface Size {
  width: number
  height: number
}

const [SMALLEST, LARGEST, SPACE] = [0.02, 2.5, 24]

/** The view that has all nodes in its middle, no larger than they are. */
export const fitView = (nodes: readonly DrawnNode[], { width, height }: Size): View => {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity]
  for (const node of nodes) {
    left = Math.min(left, node.x)
    top = Math.min(top, node.y - TITLE)
    right = Math.max(right, node.x + node.width)
    bottom = Math.max(bottom, node.y + node.height)
  }
  if (nodes.length === 0) return { x: 0, y: 0, scale: 1 }
  const fits = Math.min(
    (width - 2 * SPACE) / Math.max(1, right - left),
    (height - 2 * SPACE) / Math.max(1, bottom - top),
  )
  const scale = Math.max(SMALLEST, Math.min(1, fits))
  const middle = { x: (left + right) / 2, y: (top + bottom) / 2 }
  return { x: width / 2 - scale * middle.x, y: height / 2 - scale * middle.y, scale }
}

/** The view after a zoom that leaves a point of the window where it is. */
export const zoomView = (view: View, factor: number, at: { x: number; y: number }): View => {
  const scale = Math.max(SMALLEST, Math.min(LARGEST, view.scale * factor))
  const part = scale / view.scale
  return { x: at.x - part * (at.x - view.x), y: at.y - part * (at.y - view.y), scale }
}
