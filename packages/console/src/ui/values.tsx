import { useState, type ComponentProps, type CSSProperties, type ReactNode } from 'react'

import { useArePrivate, useCopy } from '../api/queries.ts'
import { makeStore, useStore } from '../api/store.ts'
import { FULL_TIME } from '../words/language.ts'
import { type Tone, wordsOf } from '../words/states.ts'
import { showBytes, showControls, showDaysLeft, showTime } from '../words/text.ts'
import { rich, t } from '../words/translate.ts'
import styles from './show.module.css'

interface BdiProps {
  children: string | undefined
  as?: 'b' | 'code' | 'p' | 'span' | 'strong'
  className?: string
  title?: string
}

/** A stranger's text: isolated from the direction of what surrounds it, with its hidden characters shown. */
export const Bdi = ({ as: Box, children = '', ...props }: BdiProps) => {
  const text = <bdi>{showControls(children)}</bdi>
  return Box ? <Box {...props}>{text}</Box> : text
}

export type Children = { children: ReactNode }

/** Text for screen readers alone. */
export const Hidden = ({ children }: Children) => <span className="hidden-text">{children}</span>

const clock = makeStore(Date.now())
setInterval(() => document.hidden || clock.set(Date.now()), 1000)

/** The time in milliseconds, which goes on every second while the tab is seen; all times of a page go on at once. */
export const useNow = (): number => useStore(clock)

/** A time as `3 min ago`, from a day on as a date; in full in the tooltip. Where there is no time, `none` is said. */
export const Time = ({ at, none = '–' }: { at?: string | null; none?: string }) => {
  // Rendered when its text changes, not at each second: a list has thousands.
  const text = useStore({ ...clock, get: () => (at ? showTime(new Date(at), clock.get()) : none) })
  return at ? (
    <time dateTime={at} title={FULL_TIME.format(new Date(at))}>
      {text}
    </time>
  ) : (
    none
  )
}

/** The end of a key, with the days that are left of its last week. */
export const KeyEnd = ({ at }: { at?: string | null }) => {
  const left = useStore({
    ...clock,
    get: () => (at ? showDaysLeft(new Date(at), clock.get()) : undefined),
  })
  return (
    <>
      <Time at={at} none={t('Never')} /> {left !== undefined && <Badge tone="warn">{left}</Badge>}
    </>
  )
}

/** When something was done, and by whom. */
export const Signed = ({ at, by }: { at: string; by: string }) =>
  rich('{time} by {by}', { time: <Time at={at} />, by: <Bdi>{by}</Bdi> })

export const Bytes = ({ count }: { count: number }) => (
  <span title={t('{count, plural, one {# byte} other {# bytes}}', { count })}>
    {showBytes(count)}
  </span>
)

/** A part from 0 to 1. Without a value it only says that something goes on. */
export const Progress = ({ part, label }: { part: number | undefined; label: string }) => (
  <progress aria-label={label} value={part} />
)

/** A state in words and with an icon; the API's own word is the tooltip. */
export const StateBadge = ({ state, suffix }: { state: string; suffix?: string }) => {
  const { word, tone, Icon } = wordsOf(state)
  return (
    <Badge tone={tone} title={state}>
      <Icon aria-hidden />
      {suffix ? `${word} ${suffix}` : word}
    </Badge>
  )
}

type BadgeProps = Children & { tone?: Tone; title?: string }

export const Badge = ({ tone = 'soft', title, children }: BadgeProps) => {
  const text = typeof children === 'string' ? children : undefined
  return (
    <span className={`${styles.badge} ${tone}`} title={title ?? text}>
      {text === undefined ? children : <Bdi>{text}</Bdi>}
    </span>
  )
}

type PictureProps = ComponentProps<'img'> & { other?: ReactNode }

/** A picture of the service's own addresses; `other` where there is none, or where it does not load. */
export const Picture = ({ src, ...props }: PictureProps) =>
  src ? <KnownPicture {...props} src={src} /> : props.other

type KnownProps = PictureProps & { src: string }

const KnownPicture = (props: KnownProps) => {
  const isCopied = useArePrivate() && props.src.startsWith('/')
  return isCopied ? <CopiedPicture {...props} /> : <ShownPicture {...props} />
}

const CopiedPicture = ({ src, ...props }: KnownProps) => (
  <ShownPicture {...props} src={useCopy(src)} />
)

const ShownPicture = ({ src, other, ...props }: PictureProps) => {
  const [broken, setBroken] = useState<string>()
  if (!src || src === broken) return other
  return <img {...props} src={src} alt="" fetchPriority="low" onError={() => setBroken(src)} />
}

/** An angle of the colour wheel, the same for a name at each sight. */
const hueOf = (name: string): number =>
  [...name].reduce((sum, char) => (sum * 31 + (char.codePointAt(0) ?? 0)) % 360, 7)

/** A small picture; where there is none, a tile with the first letter, in a colour of its own. */
export const Tile = ({ src, name, size = 40 }: { src?: string; name: string; size?: number }) => {
  const letter = <bdi>{showControls([...name.trim()][0] ?? '?').toUpperCase()}</bdi>
  const style = { width: size, height: size, '--hue': hueOf(name) } as CSSProperties
  return (
    <span className={styles.tile} style={style} aria-hidden>
      <Picture src={src} loading="lazy" other={letter} />
    </span>
  )
}
