// A TCP echo server: one task per connection, and a clean shutdown with clients still connected.
// prints: echo: one\necho: two\necho: three\nserver ended: yes\nclients that saw the end: 2\n
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <spool/spool.hpp>

using namespace std::chrono_literals;

int checked(int result, const char* call) {
    if (result < 0) {
        throw std::system_error(errno, std::generic_category(), call);
    }
    return result;
}

/// Owns a socket.
class socket_handle {
public:
    socket_handle() : fd_(checked(::socket(AF_INET, SOCK_STREAM, 0), "socket")) {}
    explicit socket_handle(int fd) noexcept : fd_(fd) {}
    socket_handle(socket_handle&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    ~socket_handle() {
        if (fd_ >= 0) {
            ::close(fd_);
        }
    }

    [[nodiscard]] int fd() const noexcept { return fd_; }
    /// Waits for data and returns it; empty when the connection has ended.
    [[nodiscard]] std::string receive() const {
        std::string buffer(4096, '\0');
        buffer.resize(static_cast<std::size_t>(std::max<ssize_t>(::recv(fd_, buffer.data(), 4096, 0), 0)));
        return buffer;
    }
    [[nodiscard]] bool send(std::string_view text) const {
        while (!text.empty()) {
            const ssize_t n = ::send(fd_, text.data(), text.size(), MSG_NOSIGNAL);
            if (n <= 0) {
                return false;
            }
            text.remove_prefix(static_cast<std::size_t>(n));
        }
        return true;
    }

private:
    int fd_;
};

sockaddr_in loopback(in_port_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = port;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

// [echo_server]
class echo_server {
public:
    echo_server() {
        sockaddr_in address = loopback(0);  // any free port
        socklen_t size = sizeof address;
        checked(::bind(listener_.fd(), reinterpret_cast<sockaddr*>(&address), size), "bind");
        checked(::listen(listener_.fd(), SOMAXCONN), "listen");
        checked(::getsockname(listener_.fd(), reinterpret_cast<sockaddr*>(&address), &size), "getsockname");
        port_ = address.sin_port;
        pool_.execute([this](std::stop_token stop) { accept_all(stop); });
    }
    ~echo_server() { stop(); }
    [[nodiscard]] in_port_t port() const noexcept { return port_; }

    /// Ends the accept loop and every connection. Returns false if a task did not end in time.
    bool stop() { return spool::shutdown_and_await(pool_, 0s, 1min).terminated; }

private:
    /// Shuts the socket down on a stop request. On Linux that ends every blocking call on the
    /// socket, accept() included.
    static auto shutdown_at(const std::stop_token& stop, const socket_handle& s) {
        return std::stop_callback{stop, [fd = s.fd()] { ::shutdown(fd, SHUT_RDWR); }};
    }
    void accept_all(const std::stop_token& stop) {
        const auto wake = shutdown_at(stop, listener_);
        while (!stop.stop_requested()) {
            const int fd = ::accept(listener_.fd(), nullptr, nullptr);
            if (fd >= 0) {
                // The task owns its socket, so the socket closes whether the task runs, is
                // discarded or is handed back.
                pool_.execute([peer = socket_handle{fd}](std::stop_token its) { echo(peer, its); });
            } else if (errno != EINTR && errno != ECONNABORTED && !stop.stop_requested()) {
                checked(fd, "accept");
            }
        }
    }
    static void echo(const socket_handle& peer, const std::stop_token& stop) {
        const auto wake = shutdown_at(stop, peer);
        for (auto text = peer.receive(); !text.empty() && peer.send(text); text = peer.receive()) {}
    }

    socket_handle listener_;
    in_port_t port_ = 0;
    // One worker accepts, up to 64 serve a connection each; further connections are closed at once.
    // Declared last: its tasks use the members above.
    spool::thread_pool_executor pool_{{.name = "echo",
                                       .core_size = 1,
                                       .maximum_size = 65,
                                       .queue = std::make_unique<spool::synchronous_queue<spool::task>>(),
                                       .rejection = spool::discard_policy{}}};
};
// [/echo_server]

socket_handle connect_to(in_port_t port) {
    socket_handle s;
    const sockaddr_in address = loopback(port);
    checked(::connect(s.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof address), "connect");
    return s;
}

std::string ask(const socket_handle& s, std::string_view text) {
    std::string answer;
    std::string part = s.send(text) ? s.receive() : "";
    for (; !part.empty() && (answer += part).size() < text.size(); part = s.receive()) {}
    return answer;
}

int main() {
    echo_server server;
    std::printf("echo: %s\n", ask(connect_to(server.port()), "one").c_str());  // then disconnects

    const socket_handle second = connect_to(server.port());
    const socket_handle third = connect_to(server.port());
    std::printf("echo: %s\n", ask(second, "two").c_str());
    std::printf("echo: %s\n", ask(third, "three").c_str());

    std::printf("server ended: %s\n", server.stop() ? "yes" : "no");
    std::printf("clients that saw the end: %d\n", second.receive().empty() + third.receive().empty());
}
