import './palette.css'

import { Maximize2 } from 'lucide-react'
import { memo, useMemo, useState, type CSSProperties } from 'react'

import { useChangeSearch } from '../ui/address.ts'
import { Button } from '../ui/button.tsx'
import { Code } from '../ui/code.tsx'
import { Badge, Bdi, Hidden } from '../ui/values.tsx'
import type { Tone } from '../words/states.ts'
import { showControls } from '../words/text.ts'
import { t } from '../words/translate.ts'
import styles from './card.module.css'
import { countRows, cutRows, readCard } from './inputs.ts'
import type { Card, HostNode, Mark, Marks, Slot, Widget } from './inputs.ts'

/** Most rows that are drawn unasked. */
const ROWS = 40

interface HostNodeCardProps {
  node: HostNode
  marks?: Marks | undefined
  /** Has a button that opens it in whole. */
  opens?: boolean
  /** Draws all rows and the whole description. */
  isWhole?: boolean
}

/** A host node as the host draws it, with what the host does not show: its name, badges and description. */
export const HostNodeCard = memo(({ node, marks, opens, isWhole = false }: HostNodeCardProps) => {
  const change = useChangeSearch()
  const [showsAll, setShowsAll] = useState(isWhole)
  const card = useMemo(() => readCard(node), [node])
  const rows = countRows(card)
  return (
    <div className={`stack tight ${styles.about} ${marks ? styles.marked : ''}`}>
      <div className={`row ${styles.caption}`}>
        {card.title === node.host_node_name ? (
          <Bdi as="span" className="cut">
            {node.category}
          </Bdi>
        ) : (
          <Bdi as="code" className="cut" title={showControls(node.host_node_name)}>
            {node.host_node_name}
          </Bdi>
        )}
        {node.deprecated && <Badge tone="warn">{t('deprecated')}</Badge>}
        {node.experimental && <Badge tone="info">{t('experimental')}</Badge>}
        {node.output_node && <Badge>{t('output node')}</Badge>}
        {node.policy === 'HostNodePolicyBanned' && <Badge tone="bad">{t('banned')}</Badge>}
        {node.policy === 'HostNodePolicyLocalOnly' && <Badge tone="warn">{t('local only')}</Badge>}
        {node.dynamic.includes('host_node_name') && <Badge>{t('not on every machine')}</Badge>}
        {opens && (
          <button
            type="button"
            className={`bare ${styles.open}`}
            aria-label={t('Open {title}', { title: showControls(card.title) })}
            onClick={() => change({ 'host-node': node.host_node_name }, { replace: false })}
          >
            <Maximize2 aria-hidden />
          </button>
        )}
      </div>
      <DrawnCard card={showsAll ? card : cutRows(card, ROWS)} marks={marks} />
      {rows > ROWS && !showsAll && (
        <Button onPress={() => setShowsAll(true)}>{t('Show all {rows} rows', { rows })}</Button>
      )}
      {card.unread.map(({ what, text }) => (
        <details key={what}>
          <summary>
            {what === 'inputs'
              ? t('Its inputs could not be read: the raw text')
              : t('Its outputs could not be read: the raw text')}
          </summary>
          <Code text={text} label={what === 'inputs' ? t('raw inputs') : t('raw outputs')} />
        </details>
      ))}
      {node.dynamic.includes('input_types') && <p>{t('Some inputs may be missing.')}</p>}
      {node.description && (
        <Bdi as="p" className={`small ${styles.description} ${isWhole ? styles.full : 'clamp'}`}>
          {node.description}
        </Bdi>
      )}
    </div>
  )
})

const DrawnCard = ({ card, marks }: { card: Card; marks: Marks | undefined }) => {
  const { title, sockets, outputs, widgets } = card
  return (
    <div className={styles.card} role="group" aria-label={showControls(title)}>
      <h3 className={`cut ${styles.title}`} title={showControls(title)}>
        <Bdi>{title}</Bdi>
      </h3>
      <div className={styles.slots}>
        <ul aria-label={t('Inputs')} hidden={sockets.length === 0}>
          {sockets.map((slot, index) => (
            <SlotRow key={index} slot={slot} mark={marks?.inputs.get(slot.name)} />
          ))}
        </ul>
        <ul aria-label={t('Outputs')} hidden={outputs.length === 0}>
          {outputs.map((slot, index) => (
            <SlotRow key={index} slot={slot} isOutput mark={marks?.outputs.get(index)} />
          ))}
        </ul>
      </div>
      <ul aria-label={t('Inputs with a widget')} hidden={widgets.length === 0}>
        {widgets.map((widget, index) => (
          <WidgetRow key={index} widget={widget} mark={marks?.inputs.get(widget.name)} />
        ))}
      </ul>
    </div>
  )
}

const MARKS: Record<Mark, { sign: string; word: string; tone: Tone }> = {
  gone: { sign: '−', word: t('removed'), tone: 'bad' },
  come: { sign: '+', word: t('new'), tone: 'ok' },
  changed: { sign: '~', word: t('changed'), tone: 'warn' },
}

const join = (mark: string, ...parts: readonly (string | false | undefined)[]): string =>
  parts.filter(Boolean).join(mark)

type SlotProps = { slot: Slot; isOutput?: boolean; mark: Mark | undefined }

const SlotRow = ({ slot, isOutput, mark }: SlotProps) => {
  const { name, type, isOptional, isList } = slot
  const about = join(', ', type, isOptional && t('optional'), isList && t('list'))
  const shape = join(' ', styles.dot, isOptional && styles.hollow, isList && styles.listed)
  return (
    <li className={join(' ', styles.slot, isOutput && styles.output)} title={showControls(about)}>
      <span className={shape} style={paint(slot)} aria-hidden />
      <Named name={name} about={about} mark={mark} />
    </li>
  )
}

interface NamedProps {
  name: string
  about: string
  mark: Mark | undefined
  /** Its value stands in its place. */
  isHidden?: boolean
}

const Named = ({ name, about, mark, isHidden }: NamedProps) => {
  const Text = mark === 'gone' ? 's' : 'span'
  return (
    <>
      {mark && (
        <span className={`${styles.mark} ${MARKS[mark].tone}`} aria-hidden>
          {MARKS[mark].sign}
        </span>
      )}
      <div className={isHidden ? 'hidden-text' : `cut ${styles.label}`}>
        <Text>
          <Bdi>{name}</Bdi>
        </Text>
        <Hidden>
          , <Bdi>{about}</Bdi>
          {mark && `, ${MARKS[mark].word}`}
        </Hidden>
      </div>
    </>
  )
}

/** Most characters of a value in the page. */
const SHOWN = 300

const WidgetRow = ({ widget, mark }: { widget: Widget; mark: Mark | undefined }) => {
  const { name, type, kind, isOptional, isOn, choices } = widget
  const isOfMachine = kind === 'combo' && choices === undefined && widget.value === ''
  const value = isOfMachine ? t('list from the user’s machine') : widget.value.slice(0, SHOWN)
  const count =
    kind === 'combo' &&
    choices !== undefined &&
    t('{count, plural, one {# choice} other {# choices}}', { count: choices })
  const about = join(', ', type, isOptional && t('optional'), count)
  return (
    <li
      className={join(' ', styles.widget, styles[kind], isOn && styles.on)}
      title={showControls(`${name}: ${join(', ', about, value)}`)}
    >
      <Named name={name} about={about} mark={mark} isHidden={kind === 'area' && value !== ''} />
      <div className={`cut ${styles.value}`}>
        <Bdi>{value}</Bdi>
      </div>
    </li>
  )
}

/** Types with a colour of their own. */
const KNOWN = new Set(
  `CLIP CLIP_VISION CLIP_VISION_OUTPUT CONDITIONING CONTROL_NET IMAGE LATENT MASK MODEL STYLE_MODEL VAE NOISE GUIDER SAMPLER
  SIGMAS TAESD`.split(/\s+/),
)

export const colourOf = (type: string): string => `var(--type-${KNOWN.has(type) ? type : 'other'})`

/** One colour, or up to three sectors, clockwise from the left as the host draws them, with dark dividers. */
const paint = ({ types, isList }: Slot): CSSProperties => {
  const colours = types.slice(0, 3).map(colourOf)
  const [first] = colours
  if (colours.length === 1 || isList) return { '--dot': first } as CSSProperties
  const step = 360 / colours.length
  const sectors = colours.map((colour, index) => {
    const [from, to] = [index * step, (index + 1) * step]
    return `var(--toggle-off) ${from}deg ${from + 14}deg, ${colour} ${from + 14}deg ${to}deg`
  })
  return { '--dot': `conic-gradient(from -90deg, ${sectors.join(', ')})` } as CSSProperties
}
