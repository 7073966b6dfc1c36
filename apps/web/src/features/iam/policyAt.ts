/** The id of `/iam/policie/version{id}`, whose parameter is the whole segment. */
export const idOfVersionSegment = (segment: string): string => segment.replace(/^version/, '')
