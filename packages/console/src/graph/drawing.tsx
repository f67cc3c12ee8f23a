import { Maximize, Minus, Plus } from 'lucide-react'
import {
  memo,
  useEffectEvent,
  useLayoutEffect,
  useRef,
  type KeyboardEvent,
  type PointerEvent,
} from 'react'

import { colourOf } from '../host-node/card.tsx'
import { IconButton } from '../ui/button.tsx'
import { showControls } from '../words/text.ts'
import { t } from '../words/translate.ts'
import { MARK_WORDS } from './mark-icon.tsx'
import type { Mark, Marks } from './marks.ts'
import { SLOT, TITLE, type DrawnLink, type DrawnNode, type Part } from './read-workflow.ts'
import { fitView, zoomView, type View } from './view.ts'
import styles from './graph.module.css'

interface DrawingProps {
  part: Part
  marks: Marks
  onOpen(node: DrawnNode): void
}

/** More of them are a list alone. */
export const DRAWN_MAX = 3000

/** Names are too small to be read below this scale, and cost most of a frame. */
const READABLE = 0.3

const STEP = 1.25
const PAN = 80
const PANS: Record<string, readonly [x: number, y: number]> = {
  ArrowLeft: [PAN, 0],
  ArrowRight: [-PAN, 0],
  ArrowUp: [0, PAN],
  ArrowDown: [0, -PAN],
}

/** The nodes of a part at their places, with their links. A drag, the arrows, the wheel and + - 0 change what of it is seen. */
export const Drawing = ({ part, marks, onOpen }: DrawingProps) => {
  const { box, group, act } = useView(part)
  const drag = useDrag(act.panBy)
  const press = (event: KeyboardEvent): void => {
    const pan = PANS[event.key]
    if (pan) act.panBy(...pan)
    else if (event.key === '+' || event.key === '=') act.zoom(STEP)
    else if (event.key === '-') act.zoom(1 / STEP)
    else if (event.key === '0') act.fit()
    else return
    event.preventDefault()
  }
  const open = (target: EventTarget): void => {
    const key = (target as Element).closest<SVGElement>('[data-key]')?.dataset['key']
    const node = part.nodes.find((one) => one.key === key)
    if (node && !drag.hasMoved()) onOpen(node)
  }
  return (
    <div className={styles.drawing}>
      <div
        ref={box}
        className={styles.view}
        role="application"
        aria-label={t(
          'The workflow, drawn. The arrows move it, + and - zoom, 0 shows all. The list of nodes has each as a button.',
        )}
        tabIndex={0}
        onKeyDown={press}
        onClick={({ target }) => open(target)}
        {...drag.handlers}
      >
        <svg width="100%" height="100%" aria-hidden>
          <g ref={group}>
            <Shapes part={part} marks={marks} />
          </g>
        </svg>
      </div>
      <div className={`row ${styles.zoom}`}>
        <IconButton label={t('Zoom in')} onPress={() => act.zoom(STEP)}>
          <Plus aria-hidden />
        </IconButton>
        <IconButton label={t('Zoom out')} onPress={() => act.zoom(1 / STEP)}>
          <Minus aria-hidden />
        </IconButton>
        <IconButton label={t('Show all')} onPress={act.fit}>
          <Maximize aria-hidden />
        </IconButton>
      </div>
    </div>
  )
}

/** The view of a part. It changes one attribute, without React: a drag over 1,000 nodes renders none of them. */
const useView = (part: Part) => {
  const box = useRef<HTMLDivElement>(null)
  const group = useRef<SVGGElement>(null)
  const view = useRef<View>({ x: 0, y: 0, scale: 1 })
  const show = (next: View): void => {
    view.current = next
    group.current?.setAttribute('transform', `translate(${next.x} ${next.y}) scale(${next.scale})`)
    box.current?.toggleAttribute('data-far', next.scale < READABLE)
  }
  const sizeOf = () => box.current?.getBoundingClientRect() ?? new DOMRect(0, 0, 800, 500)
  const zoom = (factor: number, at?: { x: number; y: number }): void => {
    const { width, height } = sizeOf()
    show(zoomView(view.current, factor, at ?? { x: width / 2, y: height / 2 }))
  }
  const fit = (): void => show(fitView(part.nodes, sizeOf()))
  const panBy = (x: number, y: number): void =>
    show({ ...view.current, x: view.current.x + x, y: view.current.y + y })
  const begin = useEffectEvent(fit)
  const turn = useEffectEvent((event: WheelEvent): void => {
    const { left, top } = sizeOf()
    event.preventDefault()
    zoom(Math.exp(-event.deltaY / 400), { x: event.clientX - left, y: event.clientY - top })
  })
  // Each part has a drawing of its own.
  useLayoutEffect(() => {
    const element = box.current
    const onWheel = (event: WheelEvent): void => turn(event)
    begin()
    // React's own handler of the wheel cannot keep the page from scrolling.
    element?.addEventListener('wheel', onWheel, { passive: false })
    return () => element?.removeEventListener('wheel', onWheel)
  }, [])
  return { box, group, act: { zoom, fit, panBy } }
}

/** Pixels after which a press is a drag. */
const MOVED = 4

const useDrag = (panBy: (x: number, y: number) => void) => {
  const last = useRef<{ x: number; y: number }>(undefined)
  const moved = useRef(false)
  const end = (): void => (last.current = undefined)
  const handlers = {
    onPointerDown: ({ clientX: x, clientY: y, button }: PointerEvent) => {
      moved.current = false
      if (button === 0) last.current = { x, y }
    },
    onPointerMove: ({ clientX: x, clientY: y, currentTarget, pointerId }: PointerEvent) => {
      const [dx, dy] = last.current ? [x - last.current.x, y - last.current.y] : [0, 0]
      if (!last.current || (!moved.current && Math.hypot(dx, dy) < MOVED)) return
      // So that a drag goes on outside, and ends there.
      if (!moved.current) currentTarget.setPointerCapture(pointerId)
      moved.current = true
      last.current = { x, y }
      panBy(dx, dy)
    },
    onPointerUp: end,
    onPointerCancel: end,
  }
  return { handlers, hasMoved: () => moved.current }
}

const Shapes = memo(({ part, marks }: { part: Part; marks: Marks }) => (
  <>
    {[...pathsOf(part.links)].map(([type, path]) => (
      <path key={type} d={path} className={styles.link} style={{ stroke: colourOf(type) }} />
    ))}
    {part.nodes.map((node) => (
      <Shape key={node.key} node={node} mark={marks.get(node.key)} />
    ))}
  </>
))

/** One path for all links of a type. */
const pathsOf = (links: readonly DrawnLink[]): Map<string, string> => {
  const paths = new Map<string, string>()
  for (const { from, output, to, input, type } of links) {
    const [x1, y1] = [from.x + from.width, heightOf(from, output)]
    const [x2, y2] = [to.x, heightOf(to, input)]
    const bend = Math.max(30, Math.abs(x2 - x1) / 2)
    const path = `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`
    paths.set(type, (paths.get(type) ?? '') + path)
  }
  return paths
}

/** Height of a slot; those of a collapsed node are at its title. */
const heightOf = ({ y, height }: DrawnNode, slot: number): number =>
  height < SLOT ? y - TITLE / 2 : y + Math.min(height - 6, (slot + 0.7) * SLOT)

/** Pixels of a letter, about. */
const LETTER = 7.5

const cut = (text: string, width: number): string => {
  const max = Math.max(1, Math.floor(width / LETTER))
  const shown = showControls(text.slice(0, max + 1))
  return shown.length > max ? `${shown.slice(0, max - 1)}…` : shown
}

const Shape = ({ node, mark }: { node: DrawnNode; mark: Mark | undefined }) => {
  const { key, x, y, width, height, title, type, inner } = node
  const about = inner === undefined ? type : 'subgraph'
  return (
    <g
      data-key={key}
      className={`${styles.node} ${mark ? MARK_WORDS[mark].tone : ''}`}
      transform={`translate(${x} ${y - TITLE})`}
    >
      <rect width={width} height={height + TITLE} rx={8} />
      <text x={10} y={20}>
        {cut(title, width - 20)}
      </text>
      {height >= SLOT && about !== title && (
        <text x={10} y={TITLE + 14} className={styles.type}>
          {cut(about, width - 20)}
        </text>
      )}
      {mark && (
        <g transform={`translate(${width} 0)`} className={styles.mark}>
          <circle r={15} />
          <text textAnchor="middle" y={7}>
            {MARK_WORDS[mark].sign}
          </text>
        </g>
      )}
    </g>
  )
}
