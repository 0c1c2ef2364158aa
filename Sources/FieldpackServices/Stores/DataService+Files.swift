import Fieldpack
import FieldpackCore

extension DataService {
  /// Removes the file that was downloaded for a store, unless it is another store's own by now.
  func removeFile(of config: StoreConfig) {
    guard let download = try? StoreDownload(config, registry: registry, in: context) else { return }
    let isOwned = workspace.members.contains { member in
      !member.config.isRemote && (try? member.config.localFile()) == download.path
    }
    if !isOwned { download.removeFile() }
  }

  func needsDownload(_ id: StoreID) -> Bool {
    guard let config = (try? workspace.member(id))?.config, config.isRemote,
      (try? registry.downloadsFile(config)) == true
    else { return false }
    // What is wrong with the options of the download is told by the download.
    return (try? context.hasDownload(of: config)) == false
  }

  func download(_ id: StoreID) async throws(FieldpackError) {
    guard await downloads.take() else {
      throw FieldpackError(.interrupted, "store '\(id)' is stopped", location: .init(store: id))
    }
    defer { downloads.giveBack() }
    try await workspace.stop(id, as: .downloading(StoreProgress(received: 0)))
    let member = try workspace.member(id)
    send(StoreEvent(.statusChange, id, status: .downloading))
    do throws(FieldpackError) {
      var download = try StoreDownload(member.config, registry: registry, in: context)
      download.clock = clock
      try await download.run { [workspace, log] progress in
        workspace.tell(.downloading(progress), of: member)
        log.send(
          StoreEvent(.downloadProgress, id, status: .downloading, progress: progress))
      }
    } catch {
      if error.code != .interrupted { workspace.tell(.downloadFailed(error), of: member) }
      throw error
    }
  }
}
