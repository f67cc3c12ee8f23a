import { useState } from 'react'

import { showControls } from '../words/text.ts'
import styles from './show.module.css'

interface TileProps {
  src: string | undefined
  name: string
  /** Pixels. */
  size?: number
}

/** A small picture of the service's own addresses; where there is none, a tile with the first letter. */
export const Tile = ({ src, name, size = 40 }: TileProps) => {
  const [broken, setBroken] = useState<string>()
  return (
    <span className={styles.tile} style={{ width: size, height: size }} aria-hidden>
      {src === undefined || src === broken ? (
        <bdi>{showControls([...name.trim()][0] ?? '?').toUpperCase()}</bdi>
      ) : (
        <img src={src} alt="" loading="lazy" onError={() => setBroken(src)} />
      )}
    </span>
  )
}
