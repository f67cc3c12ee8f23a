import { MoveHorizontal } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { Slider, SliderThumb, SliderTrack } from 'react-aria-components/Slider'

import { Segments } from '../ui/first-fields.tsx'
import { Row, Stack } from '../ui/panels.tsx'
import { t } from '../words/translate.ts'
import styles from './result.module.css'

/** 0: as large as there is room. */
const ZOOMS = { 0: t('Fit'), 1: '1:1', 2: '2:1' }

interface BeforeAfterProps {
  /** Shown as long as it loads: admins may not read what others gave. */
  before: string | undefined
  after: string
  /** The link of the result has expired, or its file is gone. */
  onBroken(): void
}

/** Two pictures over each other, parted by a line that goes where it is dragged; both lie in one box that scrolls. */
export const BeforeAfter = ({ after, onBroken, ...props }: BeforeAfterProps) => {
  const [broken, setBroken] = useState<string>()
  const before = props.before === broken ? undefined : props.before
  const [zoom, setZoom] = useState('0')
  // Most of what is new is seen.
  const [split, setSplit] = useState(25)
  const [scrolled, setScrolled] = useState(0)
  const [size, setSize] = useState<{ width: number; height: number }>()
  const frame = useRef<HTMLDivElement>(null)
  // At 1:1 a pixel of the picture is one of the screen.
  const scale = Number(zoom) / window.devicePixelRatio
  const [width, height] = [scale * (size?.width ?? 0), scale * (size?.height ?? 0)]
  useEffect(() => {
    const { clientWidth = 0, clientHeight = 0 } = frame.current ?? {}
    frame.current?.scrollTo((width - clientWidth) / 2, (height - clientHeight) / 2)
  }, [width, height])
  return (
    <Stack>
      <Row>
        <Segments label={t('Size')} isLabelHidden options={ZOOMS} value={zoom} onChange={setZoom} />
        {size && <span>{`${size.width} × ${size.height}`}</span>}
      </Row>
      <div className={styles.box}>
        <div
          ref={frame}
          className={styles.frame}
          role="group"
          aria-label={t('Result')}
          tabIndex={scale > 0 ? 0 : -1}
          style={size && { aspectRatio: `${size.width} / ${size.height}` }}
          onScroll={({ currentTarget }) => setScrolled(currentTarget.scrollLeft)}
          onPointerMove={({ buttons, pointerType, movementX, movementY }) => {
            if (buttons === 1 && pointerType === 'mouse')
              frame.current?.scrollBy(-movementX, -movementY)
          }}
        >
          <div className={styles.stage} style={scale > 0 ? { width, height } : undefined}>
            <img
              src={after}
              alt={t('After')}
              draggable={false}
              onLoad={({ currentTarget: { naturalWidth: width, naturalHeight: height } }) =>
                setSize({ width, height })
              }
              onError={onBroken}
            />
            {before !== undefined && (
              <img
                src={before}
                alt={t('Before')}
                draggable={false}
                style={{ clipPath: `inset(0 calc(100% - ${scrolled}px - ${split}cqw) 0 0)` }}
                onError={() => setBroken(before)}
              />
            )}
          </div>
        </div>
        {before !== undefined && (
          <>
            <span className={styles.tag} aria-hidden>
              {t('before')}
            </span>
            <span className={styles.tag} aria-hidden>
              {t('after')}
            </span>
            <Slider
              className={styles.split}
              aria-label={t('Part that shows the picture before')}
              formatOptions={{ style: 'unit', unit: 'percent' }}
              value={split}
              onChange={setSplit}
            >
              <SliderTrack className={styles.track}>
                <SliderThumb className={styles.line}>
                  <MoveHorizontal aria-hidden />
                </SliderThumb>
              </SliderTrack>
            </Slider>
          </>
        )}
      </div>
    </Stack>
  )
}
