import clip from '../home/clip.mp4'
import clipPoster from '../home/clip.webp'
import portrait from '../home/portrait.webp'
import relit from '../home/relit.avif'
import { BeforeAfter } from '../tasks/before-after.tsx'
import { Clip } from '../ui/clip.tsx'
import { Link, tryPage } from '../ui/link.tsx'
import { Empty, Stack } from '../ui/panels.tsx'
import { t } from '../words/translate.ts'
import type { Kind } from './kinds.ts'
import { EXAMPLE } from './snippets.ts'
import styles from './try.module.css'
import { wordOf } from './words.ts'

/** Stands in the place of a result until there is one. */
export const Example = ({ kind: { id, path } }: { kind: Kind }) => {
  const words = <Empty>{t('Your result will appear here')}</Empty>
  const isVideo = path.includes('video') || id === 'extend'
  if (!isVideo && id !== 'relight') return words
  return (
    <Stack>
      {words}
      {isVideo ? (
        <>
          <p className="soft small">{t('Example')}</p>
          <Clip src={clip} poster={clipPoster} className={styles.clip} />
        </>
      ) : (
        <RelitPortrait />
      )}
    </Stack>
  )
}

/** A picture before and after, the request that made it, and a way to repeat that. */
export const RelitPortrait = () => (
  <div className="stack tight">
    <BeforeAfter before={portrait} after={relit} onBroken={() => {}} />
    <p className="soft small">
      {t('Prompt “{prompt}”, style {style}, all else by default.', {
        prompt: EXAMPLE.prompt,
        style: wordOf('style', EXAMPLE.style),
      })}{' '}
      <Link {...tryPage('relight', undefined, 'example')}>{t('Try this')}</Link>
    </p>
  </div>
)
