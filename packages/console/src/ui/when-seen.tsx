import { useState } from 'react'

import type { Children } from './values.tsx'

type WhenSeenProps = Children & { className?: string | undefined; height?: number }

/** Draws what is in it, and so loads it, once its place is seen; until then the place is empty. `loading="lazy"` loads far too early. */
export const WhenSeen = ({ className, height, children }: WhenSeenProps) => {
  const [isSeen, setSeen] = useState(false)
  const watch = (place: HTMLDivElement): (() => void) => {
    const seen = new IntersectionObserver(
      (places) => places.some(({ isIntersecting: isIn }) => isIn) && setSeen(true),
    )
    seen.observe(place)
    return () => seen.disconnect()
  }
  return isSeen ? children : <div ref={watch} className={className} style={{ minHeight: height }} />
}
