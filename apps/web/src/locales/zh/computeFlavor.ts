import * as words from './words.ts'

export default {
  keyword: words.nameOrId,
  empty: '没有可用的规格',
  emptyNote: '规格由云平台的管理员建立。',
  diskOfImage: '与镜像相同',
  column: {
    name: words.name,
    description: words.description,
    id: 'ID',
    vcpus: 'vCPU',
    memory: words.memory,
    disk: words.systemDisk,
    ephemeral: '临时盘',
    swap: '交换分区',
    visibility: words.visibility,
  },
  visibility: { public: '公开', private: '指定项目' },
} as const
