#if Server
  import CMicrohttpd
#endif

/// The memory of a process that only serves.
package enum ServerMemory {
  /// Has the C library keep little memory that nobody uses. To be called before the process has many
  /// threads.
  package static func spare() {
    #if Server
      fieldpack_spare_memory()
    #endif
  }

  /// Gives memory that nobody uses back to the system.
  static func giveBack() {
    #if Server
      fieldpack_give_back_memory()
    #endif
  }
}
