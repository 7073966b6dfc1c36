import { rowOf } from './console.ts'
import { registered } from './registeredCloud.ts'
import { expect, test } from './test.ts'

test('sizes of the second family say their price, and which of them the quota leaves no room for; the only network is chosen', async ({
  page,
  context,
  trouble,
}) => {
  // The played cloud keeps quotas of nothing but instances.
  trouble.expect(/^(404|502) (GET|POST) \/api\//)
  const { played, end } = await registered(context)
  const flavor = (name: string, vcpus: number) => ({ id: name, name, vcpus, ram: 2048, disk: 20, extra_specs: {} })
  played.says['GET /compute/v2.1/flavors/detail'] = { flavors: [flavor('fits', 2), flavor('large', 8)] }
  played.says['GET /compute/v2.1/os-quota-sets/project/detail'] = {
    quota_set: { instances: { limit: 10, in_use: 1 }, cores: { limit: 10, in_use: 6 }, ram: { limit: -1, in_use: 2048 } },
  }
  try {
    await page.goto('/instanceadd')
    await expect(rowOf(page, 'large')).toContainText('配额不足：vCPU还可用4')
    await expect(rowOf(page, 'large').getByRole('radio')).toBeDisabled()
    await expect(rowOf(page, 'fits').getByRole('radio')).toBeEnabled()
    await expect(rowOf(page, 'fits')).toContainText(/小时|未定价/)
    await expect(page.getByRole('main')).toContainText('played-net')
  } finally {
    await end()
  }
})
