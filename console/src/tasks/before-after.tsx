import { MoveHorizontal } from 'lucide-react'
import { useRef, useState } from 'react'
import type { KeyboardEvent, PointerEvent, SyntheticEvent } from 'react'

import { Segments } from '../ui/fields.tsx'
import { Row } from '../ui/page.tsx'
import styles from './result.module.css'

type Zoom = 'fit' | '1' | '2'
const ZOOMS: readonly { value: Zoom; label: string }[] = [
  { value: 'fit', label: 'Fit' },
  { value: '1', label: '1:1' },
  { value: '2', label: '2:1' },
]

interface Point {
  x: number
  y: number
}

interface BeforeAfterProps {
  before: string | undefined
  after: string
  /** Pixels of the picture after. */
  size: { width: number; height: number } | undefined
  /** A link has expired, or its file is gone. */
  onBroken(): void
}

/** Pixels that an arrow moves the picture by. */
const STEP = 40
const ARROWS: Record<string, Point> = {
  ArrowLeft: { x: STEP, y: 0 },
  ArrowRight: { x: -STEP, y: 0 },
  ArrowUp: { x: 0, y: STEP },
  ArrowDown: { x: 0, y: -STEP },
}

/** Two pictures of one size over each other, parted by a line that goes where it is dragged; both move and grow together. */
export const BeforeAfter = ({ before, after, size, onBroken }: BeforeAfterProps) => {
  const [zoom, setZoom] = useState<Zoom>('fit')
  const [split, setSplit] = useState(50)
  const [natural, setNatural] = useState(size)
  const frame = useRef<HTMLDivElement>(null)
  const pan = usePan(frame, stageOf(natural, zoom))
  const load = ({ currentTarget }: SyntheticEvent<HTMLImageElement>): void =>
    setNatural({ width: currentTarget.naturalWidth, height: currentTarget.naturalHeight })
  const picture = (src: string, alt: string, onLoad?: typeof load) => (
    <img
      src={src}
      alt={alt}
      style={pan.style}
      draggable={false}
      onLoad={onLoad}
      onError={onBroken}
    />
  )
  return (
    <div className={styles.compare}>
      <Row>
        <Segments
          label="Size"
          isLabelHidden
          options={ZOOMS}
          value={zoom}
          onChange={(value) => setZoom(value)}
        />
        {natural && <span className={styles.soft}>{`${natural.width} × ${natural.height}`}</span>}
      </Row>
      <div
        ref={frame}
        className={styles.frame}
        role="group"
        aria-label={zoom === 'fit' ? 'Result' : 'Result; arrows move it'}
        tabIndex={zoom === 'fit' ? -1 : 0}
        data-moves={zoom === 'fit' ? undefined : true}
        style={natural && { aspectRatio: `${natural.width} / ${natural.height}` }}
        {...pan.handlers}
      >
        {picture(after, 'After', load)}
        {before !== undefined && (
          <>
            <div className={styles.before} style={{ clipPath: `inset(0 ${100 - split}% 0 0)` }}>
              {picture(before, 'Before')}
            </div>
            <span className={styles.tag}>before</span>
            <span className={`${styles.tag} ${styles.right}`}>after</span>
            <div className={styles.line} style={{ left: `${split}%` }} aria-hidden>
              <MoveHorizontal />
            </div>
            <input
              type="range"
              className={styles.split}
              aria-label="Part that shows the picture before"
              aria-valuetext={`${split} %`}
              min={0}
              max={100}
              value={split}
              onChange={(event) => setSplit(event.target.valueAsNumber)}
              onKeyDown={(event) => stepFar(event, setSplit)}
            />
          </>
        )}
      </div>
    </div>
  )
}

/** With Shift an arrow goes ten steps. */
const stepFar = (
  event: KeyboardEvent<HTMLInputElement>,
  setSplit: (change: (old: number) => number) => void,
): void => {
  const step = ARROWS[event.key]
  if (!event.shiftKey || !step) return
  event.preventDefault()
  const sign = step.x < 0 || step.y > 0 ? 1 : -1
  setSplit((old) => Math.max(0, Math.min(100, old + 10 * sign)))
}

/** Pixels of the page that the picture takes; undefined: as many as there are. At 1:1 a pixel of it is one of the screen. */
const stageOf = (
  natural: BeforeAfterProps['size'],
  zoom: Zoom,
): BeforeAfterProps['size'] | undefined => {
  if (zoom === 'fit' || !natural) return undefined
  const scale = Number(zoom) / window.devicePixelRatio
  return { width: natural.width * scale, height: natural.height * scale }
}

/** Moves what is larger than its frame, by dragging and by arrows; it never leaves the frame. */
const usePan = (frame: React.RefObject<HTMLDivElement | null>, stage: BeforeAfterProps['size']) => {
  const [centre, setCentre] = useState<Point>({ x: 0, y: 0 })
  const dragged = useRef<Point>(undefined)
  const move = ({ x, y }: Point): void => {
    const box = frame.current
    if (!box || !stage) return
    const most = {
      x: Math.max(0, (stage.width - box.clientWidth) / 2),
      y: Math.max(0, (stage.height - box.clientHeight) / 2),
    }
    setCentre((old) => ({
      x: Math.max(-most.x, Math.min(most.x, old.x + x)),
      y: Math.max(-most.y, Math.min(most.y, old.y + y)),
    }))
  }
  const handlers = {
    onPointerDown: (event: PointerEvent<HTMLDivElement>): void => {
      if (!stage || event.target instanceof HTMLInputElement) return
      dragged.current = { x: event.clientX, y: event.clientY }
      event.currentTarget.setPointerCapture(event.pointerId)
    },
    onPointerMove: ({ clientX: x, clientY: y }: PointerEvent): void => {
      const from = dragged.current
      if (!from) return
      dragged.current = { x, y }
      move({ x: x - from.x, y: y - from.y })
    },
    onPointerUp: (): void => {
      dragged.current = undefined
    },
    onKeyDown: (event: KeyboardEvent<HTMLDivElement>): void => {
      const step = ARROWS[event.key]
      if (!step || !stage || event.target !== event.currentTarget) return
      event.preventDefault()
      move(step)
    },
  }
  const style = stage && {
    width: stage.width,
    height: stage.height,
    maxWidth: 'none',
    inset: 'auto',
    left: `calc(50% + ${centre.x - stage.width / 2}px)`,
    top: `calc(50% + ${centre.y - stage.height / 2}px)`,
  }
  return { style, handlers }
}
