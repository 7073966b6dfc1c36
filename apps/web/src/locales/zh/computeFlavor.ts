export default {
  keyword: '名称或ID',
  empty: '没有可用的规格',
  emptyNote: '规格由云平台的管理员建立。',
  diskOfImage: '与镜像相同',
  column: {
    name: '名称',
    description: '描述',
    id: 'ID',
    vcpus: 'vCPU',
    memory: '内存',
    disk: '系统盘',
    ephemeral: '临时盘',
    swap: '交换分区',
    visibility: '可见范围',
  },
  visibility: { public: '公开', private: '指定项目' },
} as const
