import { lazyRouteComponent } from '@tanstack/react-router'
import { lazy } from 'react'
import type { ComponentType } from 'react'

import { isAway, untilBack } from '../api/health.ts'
import { reloadOnce } from './reload.ts'

/** A page that is loaded when it is shown, or when a link to it is about to be pressed. */
export const lazyPage = <Name extends string>(
  load: () => Promise<Record<Name, ComponentType>>,
  name: Name,
) => lazyRouteComponent<Record<Name, ComponentType>, Name>(() => loadSurely(load), name)

/** A part of a page that is loaded when it is first shown; it stands in a Suspense. */
export const lazyPart = <Props>(load: () => Promise<ComponentType<Props>>) =>
  lazy(async () => ({ default: await loadSurely(load) }))

/** While the service is away it waits. A file that is not there is that of another build: the page is loaded anew, once. */
const loadSurely = async <T>(load: () => Promise<T>): Promise<T> => {
  for (;;)
    try {
      return await load()
    } catch (error) {
      if (await isAway()) await untilBack()
      else if (reloadOnce()) await new Promise(() => {})
      else throw error
    }
}
