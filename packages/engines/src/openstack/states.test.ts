import { describe, expect, it } from 'vitest'
import { codeOf, stateOf, type ServerState } from './states.ts'

describe('what a server is in', () => {
  it.each<[string | null, string | null, boolean, ServerState, number]>([
    ['building', null, false, 'creating', 0],
    ['building', 'scheduling', false, 'creating', 0],
    ['building', 'spawning', false, 'creating', 0],
    ['active', null, true, 'running', 1],
    ['error', null, false, 'create_failed', 2],
    ['building', 'deleting', false, 'deleting', 3],
    ['active', 'deleting', true, 'deleting', 3],
    ['error', 'deleting', true, 'deleting', 3],
    ['active', 'soft-deleting', true, 'deleting', 3],
    ['soft-delete', null, true, 'soft_deleted', 4],
    ['soft-delete', 'restoring', true, 'restoring', 10],
    ['deleted', null, true, 'deleted', 4],
    ['stopped', null, true, 'stopped', 10],
    ['stopped', 'powering-on', true, 'starting', 10],
    ['active', 'powering-off', true, 'stopping', 1],
    ['paused', null, true, 'paused', 11],
    ['paused', 'unpausing', true, 'unpausing', 11],
    ['suspended', null, true, 'suspended', 12],
    ['shelved', null, true, 'shelved', 13],
    ['shelved_offloaded', 'spawning', true, 'unshelving', 13],
    ['shelved_offloaded', null, true, 'shelved', 13],
    ['active', 'shelving_image_pending_upload', true, 'shelving', 1],
    ['active', 'reboot_started_hard', true, 'rebooting', 1],
    ['active', 'rebooting_hard', true, 'rebooting', 1],
    ['active', 'resize_prep', true, 'resizing', 1],
    ['active', 'resize_finish', true, 'resizing', 1],
    ['resized', null, true, 'resized', 1],
    ['resized', 'resize_confirming', true, 'confirming', 1],
    ['resized', 'resize_reverting', true, 'reverting', 1],
    ['active', 'rebuild_block_device_mapping', true, 'rebuilding', 1],
    ['active', 'image_snapshot_pending', true, 'snapshotting', 1],
    ['active', 'migrating', true, 'migrating', 1],
    ['rescued', null, true, 'rescued', 1],
    ['active', 'updating_password', true, 'running', 1],
    // What failed keeps the task in which it failed.
    ['error', 'resize_migrating', true, 'error', 14],
    ['error', 'spawning', false, 'create_failed', 2],
    // Of a Nova that does not say, or of a newer one.
    [null, null, false, 'unknown', 14],
    ['hibernated', null, true, 'unknown', 14],
  ])('%s, %s, launched %s: %s', (vmState, taskState, launched, state, code) => {
    expect(stateOf(vmState, taskState, launched)).toBe(state)
    expect(codeOf(state)).toBe(code)
  })
})
