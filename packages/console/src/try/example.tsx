import clip from '../home/clip.mp4'
import clipPoster from '../home/clip.webp'
import portrait from '../home/portrait.webp'
import relit from '../home/relit.avif'
import { BeforeAfter } from '../tasks/before-after.tsx'
import { Clip } from '../ui/clip.tsx'
import { Empty, Stack } from '../ui/panels.tsx'
import type { Kind } from './kinds.ts'
import styles from './try.module.css'

/** Stands in the place of a result until there is one. */
export const Example = ({ kind: { id, path } }: { kind: Kind }) => {
  const words = <Empty>Your result will appear here</Empty>
  const isVideo = path.includes('video') || id === 'extend'
  if (!isVideo && id !== 'relight') return words
  return (
    <Stack>
      {words}
      <p className="soft small">Example</p>
      {isVideo ? (
        <Clip src={clip} poster={clipPoster} className={styles.clip} />
      ) : (
        <BeforeAfter before={portrait} after={relit} onBroken={() => {}} />
      )}
    </Stack>
  )
}
