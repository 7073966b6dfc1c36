import { useEffect, useState, type ComponentType, type ReactNode } from 'react'

/** What comes with a script of its own, and is loaded once. */
export interface Late<Props> {
  /** Where it is here already. */
  readonly loaded: () => ComponentType<Props> | null
  /** What failed is tried anew the next time. */
  readonly load: () => Promise<ComponentType<Props>>
}

export function late<Props>(load: () => Promise<{ readonly default: ComponentType<Props> }>): Late<Props> {
  let here: ComponentType<Props> | null = null
  let loading: Promise<ComponentType<Props>> | null = null
  return {
    loaded: () => here,
    load: () =>
      (loading ??= load().then(
        (module) => (here = module.default),
        (thrown: unknown) => {
          loading = null
          throw thrown
        },
      )),
  }
}

/**
 * Draws what comes late, and what stands for it until then. By state and not by Suspense: React leaves a placeholder
 * standing for 300 ms, however soon the rest has come. One that is drawn for another `of` is to have another key.
 */
export function Drawn<Props>({
  of,
  placeholder,
  draw,
}: {
  readonly of: Late<Props>
  readonly placeholder: ReactNode
  readonly draw: (Component: ComponentType<Props>) => ReactNode
}) {
  const [Component, setComponent] = useState<ComponentType<Props> | null>(() => of.loaded())
  const [failure, setFailure] = useState<{ readonly thrown: unknown } | null>(null)
  useEffect(() => {
    if (Component !== null) return undefined
    let left = false
    of.load().then(
      (component) => {
        if (!left) setComponent(() => component)
      },
      (thrown: unknown) => {
        if (!left) setFailure({ thrown })
      },
    )
    return () => {
      left = true
    }
  }, [Component, of])
  // To the boundary around it, which offers to try again.
  if (failure !== null) throw failure.thrown
  return Component === null ? placeholder : draw(Component)
}
