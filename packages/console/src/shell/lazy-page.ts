import { lazyRouteComponent } from '@tanstack/react-router'
import { lazy, useEffect, type ComponentType } from 'react'

import { isAway, untilBack } from '../api/health.ts'

/** A page that is loaded when it is shown, or when a link to it is about to be pressed. */
export const lazyPage = (load: () => Promise<{ Page: ComponentType }>) =>
  lazyRouteComponent(() => loadSurely(load, { Page: Reload }), 'Page')

/** Stands for a page whose file did not come while the service was away: browsers remember that, and ask for it no more. */
const Reload = () => {
  useEffect(() => location.reload(), [])
  return null
}

/** A part of a page that is loaded when it is first shown; it stands in a Suspense. */
export const lazyPart = <Props>(load: () => Promise<ComponentType<Props>>) =>
  lazy(async () => ({ default: await loadSurely(load) }))

/**
 * Waits while the service is away. Loads once more when it responds, as it may have been away meanwhile. A file that still
 * fails is that of another build: the router then reloads the page, once.
 */
const loadSurely = async <T>(load: () => Promise<T>, instead?: T): Promise<T> => {
  for (let failed = false, wasAway = false; ;)
    try {
      return await load()
    } catch (error) {
      if (await isAway()) {
        await untilBack()
        failed = false
        wasAway = true
      } else if (wasAway && instead) return instead
      else if (failed) throw error
      else failed = true
    }
}
