import FieldpackCLI

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

exit(await FieldpackTool.run(arguments: Array(CommandLine.arguments.dropFirst())))
