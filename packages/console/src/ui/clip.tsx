type ClipProps = { src: string; poster: string; className?: string | undefined }

/** A video without words, which is read and played once it is seen. */
export const Clip = (props: ClipProps) => (
  <video {...props} ref={playOnceSeen} muted loop playsInline preload="none" aria-hidden />
)

const playOnceSeen = (video: HTMLVideoElement): (() => void) => {
  // It is rejected when the page is left meanwhile.
  const play = (): void => void video.play().catch(() => {})
  const watch = new IntersectionObserver(([seen]) => seen?.isIntersecting && play(), {
    threshold: 0.5,
  })
  watch.observe(video)
  return () => watch.disconnect()
}
