#if PostGIS
  import Foundation

  @testable import FieldpackPostGIS

  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Darwin)
    import Darwin
  #endif

  extension TestCluster {
    /// Stops the server, which ends all connections.
    func stop() throws {
      let file = try String(contentsOfFile: folder + "/data/postmaster.pid", encoding: .utf8)
      guard let process = file.split(separator: "\n").first.flatMap({ pid_t($0) }) else {
        throw Failure(description: "the server has no number")
      }
      kill(process, SIGINT)
      // The server removes the file as its last deed.
      while FileManager.default.fileExists(atPath: folder + "/data/postmaster.pid") {
        usleep(10_000)
      }
    }
  }
#endif
