import { z } from 'zod'
import { fieldTexts } from '../texts.ts'

/**
 * Names as the registry's own grammar has them (OCI distribution-spec 1.1, "Pulling manifests"; distribution 2.8 `reference`):
 * lower case, parts of letters and digits with single `.`, one or two `_`, or any `-` between them.
 */
const component = '[a-z0-9]+(?:(?:\\.|_{1,2}|-+)[a-z0-9]+)*'

/** First part of the names in a registry of what belongs to one project. `_catalog` and `..` are none. */
export const projectName = z
  .string(fieldTexts.registryName)
  .trim()
  .min(2, fieldTexts.registryName)
  .max(63, fieldTexts.registryName)
  .regex(new RegExp(`^${component}$`), fieldTexts.registryName)

/** A repository within its project: one part or several, `team/app`. With the project's name it has 255 characters at most. */
export const repositoryName = z
  .string(fieldTexts.registryName)
  .min(1, fieldTexts.registryName)
  .max(191, fieldTexts.registryName)
  .regex(new RegExp(`^${component}(?:/${component})*$`), fieldTexts.registryName)

export const tagName = z.string(fieldTexts.imageTag).regex(/^\w[\w.-]{0,127}$/, fieldTexts.imageTag)

/** Content by its SHA-256, the only algorithm that registries have to know. */
export const digest = z.string(fieldTexts.imageDigest).regex(/^sha256:[0-9a-f]{64}$/, fieldTexts.imageDigest)

/** Which tags are meant: `*` stands for any characters, `?` for one. */
export const tagPattern = z
  .string(fieldTexts.tagPattern)
  .trim()
  .regex(/^[\w.*?-]{1,128}$/, fieldTexts.tagPattern)
