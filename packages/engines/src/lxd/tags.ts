/** Tags are kept in the configuration of whatever bears them, under this prefix. */
export const tagPrefix = 'user.zhisuan.'

type Texts = Readonly<Record<string, string>>

export const tagsOf = (config: Texts | null | undefined): Record<string, string> =>
  Object.fromEntries(
    Object.entries(config ?? {})
      .filter(([key]) => key.startsWith(tagPrefix))
      .map(([key, value]) => [key.slice(tagPrefix.length), value]),
  )

/** As they stand in a configuration. */
export const tagged = (tags: Texts): Record<string, string> => Object.fromEntries(Object.entries(tags).map(([key, value]) => [`${tagPrefix}${key}`, value]))

export const sameTexts = (left: Texts, right: Texts): boolean =>
  Object.keys(left).length === Object.keys(right).length && Object.entries(left).every(([key, value]) => right[key] === value)
