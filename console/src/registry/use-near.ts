import { useEffect, useRef } from 'react'

/** Calls once the element of the ref is within 600 pixels of what is seen; undefined does not watch. */
export const useNear = <Box extends Element>(onNear: (() => void) | undefined) => {
  const box = useRef<Box>(null)
  useEffect(() => {
    if (!onNear || !box.current) return
    const watch = new IntersectionObserver(([seen]) => seen?.isIntersecting && onNear(), {
      rootMargin: '600px',
    })
    watch.observe(box.current)
    return () => watch.disconnect()
  }, [onNear])
  return box
}
