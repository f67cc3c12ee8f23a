import { useState } from 'react'
import { ToggleButton } from 'react-aria-components/ToggleButton'

import portrait from '../home/portrait.webp'
import { BeforeAfter } from '../tasks/before-after.tsx'
import { KINDS } from '../try/kinds.ts'
import { toCurl } from '../try/snippets.ts'
import stillLife from '../try/still-life.webp'
import styles from '../try/try.module.css'
import { Code } from '../ui/code.tsx'
import { LinkButton } from '../ui/link.tsx'
import { Empty, Note, Stack } from '../ui/panels.tsx'
import { t } from '../words/translate.ts'
import { SAMPLES, type Sample } from './list.ts'

const FILES = import.meta.glob<string>('./*.{webp,mp4}', {
  eager: true,
  import: 'default',
  query: '?url',
})
const fileOf = (name: string): string => FILES[`./${name}`] ?? ''

const PICTURES = {
  portrait,
  'still-life': stillLife,
  eye: fileOf('eye.webp'),
  face: fileOf('face.webp'),
}

/** Results that a visitor may look at without an account: they were made before, and nothing is sent from here. */
export const Samples = ({ kind }: { kind: string }) => {
  const samples = SAMPLES.filter((sample) => sample.kind === kind)
  const [chosen, setChosen] = useState<string>()
  const sample = samples.find(({ id }) => id === chosen) ?? samples[0]
  return (
    <Stack>
      <Note>
        <p>
          <strong>{t('Computed before.')}</strong>{' '}
          {t(
            'The built-in engine made these results when this version of Kiln was built. Nothing is sent or computed now.',
          )}
        </p>
        <LinkButton to="/account">{t('Sign in to use your own images')}</LinkButton>
      </Note>
      {sample ? (
        <div className={`split ${styles.columns}`}>
          <Stack>
            <div className="row" role="group" aria-label={t('Samples')}>
              {samples.map(({ id, title }) => (
                <ToggleButton
                  key={id}
                  className={styles.variant}
                  isSelected={id === sample.id}
                  onChange={() => setChosen(id)}
                >
                  {title}
                </ToggleButton>
              ))}
            </div>
            <div className="screen">
              <Request sample={sample} />
            </div>
          </Stack>
          <Result key={sample.id} sample={sample} />
        </div>
      ) : (
        <Empty>{t('No sample of this kind. Sign in to run it.')}</Empty>
      )}
    </Stack>
  )
}

/** The request that makes the same, to be sent with a key. */
const Request = ({ sample }: { sample: Sample }) => {
  const kind = KINDS.find(({ id }) => id === sample.kind)
  if (!kind) return null
  const { picture, settings } = sample
  const image = picture && { image: `https://example.com/${picture}.webp` }
  const request = { origin: location.origin, kind, body: { ...image, ...settings } }
  return <Code label={t('the request')} text={toCurl(request)} />
}

const Result = ({ sample: { id, picture, title } }: { sample: Sample }) => (
  <div className="stack tight">
    {picture ? (
      <BeforeAfter before={PICTURES[picture]} after={fileOf(`${id}.webp`)} onBroken={() => {}} />
    ) : (
      <video
        src={fileOf(`${id}.mp4`)}
        poster={fileOf(`${id}.webp`)}
        className={styles.clip}
        aria-label={title}
        controls
        loop
        muted
        playsInline
      />
    )}
    <p className="soft small">
      {t('Computed before by the built-in engine, which is not an AI model.')}
    </p>
  </div>
)
