import type { ApiError } from '../api/client.ts'

/** Nobody who knows of the session has judged it: the network, or what stands before a server that restarts. */
export const isUnanswered = (error: ApiError): boolean =>
  (error.status === 0 && error.code < 0) || error.status === 502 || error.status === 503 || error.status === 504
